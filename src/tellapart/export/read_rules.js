// predict(row) gives { label, rule, because, like, is_sure } of a row. The row is an object from
// column to value; null, or no such key, is unknown. Dates are ISO texts or Date objects (in UTC).

const RULES = { rules: [] };
// end of the rules

// -- values of columns; null is unknown

const wrong = (kind, name, value) => {
  throw new TypeError(`column ${JSON.stringify(name)} should hold ${kind}, but has ${String(value)}`);
};
const isWhole = (value) => typeof value === "bigint" || Number.isInteger(value);
const finite = (value) => (Number.isFinite(value) ? value : null);

const CLEAN = {
  bool: (v) => (v === true || v === 1 || v === 1n ? true : v === false || v === 0 || v === 0n ? false : undefined),
  integer: (v) => {
    if (typeof v === "number" && Number.isNaN(v)) return null;
    return isWhole(v) && v >= -(2n ** 63n) && v < 2n ** 63n ? v : undefined;
  },
  number: (v) => (typeof v === "number" || typeof v === "bigint" ? finite(Number(v)) : undefined),
  text: (v) => (typeof v === "string" ? v : undefined),
  date: (v) => {
    const day = v instanceof Date ? v.toISOString() : v;
    const found = typeof day === "string" && /^(\d{4}-\d\d-\d\d)(?:T00:00:00(?:\.0+)?Z?)?$/.exec(day);
    return found ? found[1] : undefined;
  },
  datetime: (v) => {
    const text = v instanceof Date ? v.toISOString() : v;
    const found = typeof text === "string"
      && /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d)?)?$/.exec(text);
    if (!found) return undefined;
    const [, day, minutes = "00:00", seconds = ":00", fraction = "", zone = "Z"] = found;
    const whole = new Date(`${day}T${minutes}${seconds}${zone}`).toISOString().slice(0, 19);
    return `${whole}.${fraction.padEnd(6, "0").slice(0, 6)}`;
  },
};

// -- operations: each takes its arguments as they stand in a rule, and gives a function of a row

const compare = (a, b) => {
  if (typeof a !== "string") return a < b ? -1 : a > b ? 1 : 0;
  const [one, two] = [[...a], [...b]]; // by code point, not by UTF-16
  for (let n = 0; n < Math.min(one.length, two.length); n++) {
    const difference = one[n].codePointAt(0) - two[n].codePointAt(0);
    if (difference) return difference;
  }
  return one.length - two.length;
};
const all = (values) => (values.some((value) => value === null) ? null : values);
const known = (apply) => (...parts) => {
  const made = parts.map(read);
  return (row) => {
    const values = all(made.map((part) => part(row)));
    return values && apply(...values);
  };
};
const joined = (deciding) => (...parts) => {
  const made = parts.map(read);
  return (row) => {
    let unknown = false;
    for (const part of made) {
      const value = part(row);
      if (value === deciding) return deciding;
      unknown ||= value === null;
    }
    return unknown ? null : !deciding;
  };
};
const constant = (value) => () => value;
const letters = (from, to) => {
  const [old, made] = [[...(RULES.letters?.[from] ?? "")], [...(RULES.letters?.[to] ?? "")]];
  const pairs = new Map(old.map((letter, n) => [letter, made[n]]));
  return known((text) => [...text].map((letter) => pairs.get(letter) ?? letter).join(""));
};

const OPERATIONS = {
  column: (name, kind) => (row) => {
    const value = Object.hasOwn(row, name) ? (row[name] ?? null) : null;
    const made = value === null ? null : CLEAN[kind](value);
    return made === undefined ? wrong(kind, name, value) : made;
  },
  "=": known((a, b) => compare(a, b) === 0),
  "<>": known((a, b) => compare(a, b) !== 0),
  "<": known((a, b) => compare(a, b) < 0),
  "<=": known((a, b) => compare(a, b) <= 0),
  ">": known((a, b) => compare(a, b) > 0),
  ">=": known((a, b) => compare(a, b) >= 0),
  "+": known((a, b) => finite(a + b)),
  "-": known((a, b) => finite(a - b)),
  "*": known((a, b) => finite(a * b)),
  "/": known((a, b) => finite(a / b)),
  in: known((value, ...values) => values.some((one) => compare(value, one) === 0)),
  matches: (operand, pattern) => {
    const shape = new RegExp(`^(?:${pattern})$`, "su");
    return known((text) => shape.test(text))(operand);
  },
  and: joined(false),
  or: joined(true),
  not: known((value) => !value),
  true: (part) => ((made) => (row) => made(row) === true)(read(part)),
  unknown: (part) => ((made) => (row) => made(row) === null)(read(part)),
  points: (atLeast, ...terms) => {
    const made = terms.map(([weight, part]) => [weight, read(part)]);
    return (row) => made.reduce((sum, [w, part]) => (part(row) === true ? sum + w : sum), 0) >= atLeast;
  },
  coalesce: (...parts) => ((made) => (row) => {
    for (const part of made) {
      const value = part(row);
      if (value !== null) return value;
    }
    return null;
  })(parts.map(read)),
  to_number: known((value) => Number(value)),
  midnight: known((day) => `${day}T00:00:00.000000`),
  integer: (text) => constant(BigInt(text)),
  date: constant,
  datetime: constant,
  within: known((v) => (v === 0 || (Math.abs(v) >= 1e-75 && Math.abs(v) <= 1e75) ? v : null)),
  abs: known(Math.abs),
  negative: known((value) => -value),
  lower: letters("upper", "lower"),
  upper: letters("lower", "upper"),
  trim: known((text) => text.replace(/^ +| +$/g, "")),
  length: known((text) => [...text].length),
  year: known((moment) => Number(moment.slice(0, 4))),
  month: known((moment) => Number(moment.slice(5, 7))),
  day: known((moment) => Number(moment.slice(8, 10))),
  weekday: known((moment) => new Date(moment.slice(0, 10)).getUTCDay() || 7),
};

function read(part) {
  if (!Array.isArray(part)) return constant(part);
  const [operation, ...rest] = part;
  return OPERATIONS[operation](...rest);
}

const rules = RULES.rules.map(({ when, ...answer }) => ({ applies: read(when), answer }));

/** The answer of the first rule that applies. */
export function predict(row) {
  return { ...rules.find(({ applies }) => applies(row) === true).answer };
}
