// Letters are text, digits choose, Enter confirms, Esc goes back, / is everything else, ? is help. No key
// needs Alt. Forms that swap parts of the page are asked until they are answered; pages work without this.

const SEEN = 250; // milliseconds: nobody has looked at anything sooner
const GONE = "If the server was stopped, start it again with the same command: this page then goes on by itself. If it opens at another address, use that one and close this page; only the last answer is to be given again.";
const SAFE = "What was saved is safe; your last answer is sent again until it arrives.";
const $ = (what, from = document) => from.querySelector(what);
const $$ = (what, from = document) => [...from.querySelectorAll(what)];
const typing = (at) => at?.matches?.("input:not([type=checkbox], [type=radio], [type=hidden], [type=file]), textarea, select");
const seen = (one) => !one.disabled && one.getClientRects().length > 0;
const box = () => $$("input[data-types]").find(seen);
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const store = (() => { try { return localStorage; } catch { return {}; } })(); // some browsers forbid it
const single = () => store["single keys"] !== "off"; // WCAG 2.1.4
const say = (text) => ($("#voice").textContent = text);
const fine = matchMedia("(pointer: fine)").matches; // a finger would get the telephone's keyboard over the row
const go = (url) => (window.openPage ?? location.assign.bind(location))(url); // a notebook opens pages itself
const OTHER = JSON.parse(document.body.dataset.keys || "{}"); // keys that a file gave to actions

let busy = false;
let ahead = ""; // what was typed before the page it is meant for was there
let swapped = -Infinity;
let opened = document.referrer.startsWith(location.origin) ? performance.now() : -Infinity; // the whole page
let picked = ""; // what is in the box was picked, not typed: keys are keys as if it were empty
const touched = new Set(); // boxes somebody typed in: what is typed is not in the attributes

function complain(text) {
  const trouble = $("#trouble");
  if (text === trouble.textContent) return;
  trouble.textContent = text;
  trouble.hidden = text === "";
  if (text) trouble.scrollIntoView({ block: "nearest" });
}

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// ---- parts of the page are replaced

// Make an element like another. What is the same already stays: to draw it anew costs most of the time.
function become(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeName !== fresh.nodeName || old.id !== fresh.id) return old.replaceWith(fresh);
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.data = fresh.data;
    return;
  }
  for (const name of old.getAttributeNames()) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const name of fresh.getAttributeNames()) {
    const value = fresh.getAttribute(name);
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
  before.slice(after.length).forEach((node) => node.remove());
  after.forEach((node, n) => (n < before.length ? become(before[n], node) : old.append(node)));
}

// Every element of the answer that has an id takes the place of the one that has it here.
function swap(html) {
  const parts = document.createElement("template");
  parts.innerHTML = html;
  for (const dialog of $$("dialog[open]")) dialog.close();
  const open = $("details.fold[open]");
  for (const fresh of [...parts.content.children]) {
    const old = fresh.id && document.getElementById(fresh.id);
    if (old) become(old, fresh);
  }
  if (open) $("details.fold")?.setAttribute("open", "");
  for (const one of touched) one.value = one.defaultValue;
  touched.clear();
  for (const cell of $$(".prose")) cell.scrollTop = 0;
  begin();
  if (ahead) typeAhead();
  const top = $("#ask").getBoundingClientRect().top;
  if (top < 0 || top > innerHeight * 0.7) ($(".learnt") ?? $("#ask")).scrollIntoView();
  swapped = performance.now();
}

// What a page, or a card, begins with.
function begin() {
  const card = $("#card");
  if (card?.dataset.title) document.title = document.title.replace(/^[^·]*/, `${card.dataset.title} `);
  if (card) say([...$$(".learnt .news, #ask")].map((one) => one.textContent.trim().replace(/\s+/g, " ")).join(" "));
  picked = "";
  const types = box();
  if (types && !fine && types.dataset.touch) types.placeholder = types.dataset.touch;
  const refused = $("#why") && $("#means.bad") && $("#why").value; // it is to be written anew
  if (refused) ($("#why").focus({ preventScroll: true }), $("#why").select());
  else if (types && fine && !$("[autofocus]:not([data-types])")) types.focus({ preventScroll: true });
  else if (card) $("#ask").focus({ preventScroll: true });
  for (const one of $$("input[data-check]")) if (one.value) check(one);
  for (const time of $$("time[datetime]")) time.textContent = local(new Date(time.dateTime));
  const late = $("#moved[data-later]");
  if (late) fetch(late.dataset.later).then((answer) => answer.ok && answer.text()).then((html) => html && late.isConnected && (late.innerHTML = html)).catch(() => {});
  $("#pages [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const more = $("form[data-goes-on]");
  if (more) setTimeout(() => more.requestSubmit()); // when what brought it is over
  const button = $("[data-single]");
  if (button) button.textContent = `Turn single keys ${single() ? "off" : "on"}`;
}

// A time as people here say it: today, 13:16.
function local(time) {
  const day = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
  const days = Math.round((day(new Date()) - day(time)) / 86400000);
  const clock = time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  if (days < 2) return `${days ? "yesterday" : "today"}, ${clock}`;
  if (days < 7) return `${time.toLocaleDateString("en", { weekday: "long" })}, ${clock}`;
  const year = time.getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
  return time.toLocaleDateString("en-GB", { day: "numeric", month: "long", ...year });
}

// ---- asking the server

// Ask until there is an answer: a repeat carries the same id, so nothing is done twice.
async function ask(url, options) {
  for (let turn = 0; ; turn += 1) {
    let trouble = "The server does not answer.";
    try {
      const answer = await fetch(url, { ...options, headers: { "X-Fragment": "1" } });
      if (answer.status < 502 || answer.status > 504) {
        if (turn) complain("");
        return answer;
      }
      trouble = `${JSON.parse(await answer.text()).error}.`; // such as a full disk
    } catch {
      // no connection, or a proxy's answer
    }
    complain(`${trouble} ${SAFE}${turn > 3 ? ` ${GONE}` : ""}`);
    await wait(Math.min(250 * 2 ** turn, 3000));
  }
}

// Until something is there, the page is seen, and must not be heard.
async function whileBusy(something) {
  busy = true;
  const late = setTimeout(() => $("#main").setAttribute("aria-busy", "true"), SEEN); // every change costs a frame
  try {
    await something();
  } finally {
    busy = false;
    ahead = ""; // nothing came that it could be for
    clearTimeout(late);
    $("#main").removeAttribute("aria-busy");
  }
}

function request(form, button) {
  const data = new FormData(form);
  if (button?.name) data.set(button.name, button.value);
  if (button?.dataset.typed !== undefined) data.set("typed", button.dataset.typed);
  if (form.method === "get") {
    const url = new URL(form.action);
    url.search = new URLSearchParams(data);
    return [url, {}];
  }
  if (!data.get("id")) data.set("id", newId());
  return [button?.getAttribute("formaction") || form.action, { method: "POST", body: new URLSearchParams(data) }];
}

function send(url, options) {
  if (busy) return;
  whileBusy(async () => {
    const answer = await ask(url, options);
    const text = await answer.text();
    if (answer.ok) {
      complain("");
      if (answer.headers.get("X-Swap")) return swap(text);
      go(answer.url);
      await wait(3000);
      return;
    }
    let message = `Another program answers at this address (${answer.status}). ${GONE}`;
    try {
      message = JSON.parse(text).error?.split("\n")[0] ?? message; // below it, only where it stands
      if (answer.status === 401) message = "The program was started anew. Open the address that it printed; everything saved is there.";
    } catch {
      // not in our shape
    }
    complain(message);
  });
}

addEventListener("pageshow", ({ persisted }) => { // back to a page that the browser kept
  busy = false;
  if (persisted) opened = performance.now();
});

// The second half of a double click is no answer to what has just appeared under it.
document.addEventListener("click", (event) => {
  // when it was clicked, not when we come to it: on a busy machine that is later
  if (event.detail > 1 && event.timeStamp - swapped < SEEN && event.target.closest?.("form[data-swap], [form=tell]")) event.preventDefault();
}, { capture: true });

document.addEventListener("submit", (event) => {
  const form = event.target;
  const button = event.submitter;
  if (button?.dataset.asks !== undefined && !$("[name=text]", form).value) {
    event.preventDefault();
    return words(button);
  }
  if (!form.matches("[data-swap]")) return;
  event.preventDefault();
  send(...request(form, button));
});

// ---- the reason: one box, filled from the row, the list, or by hand

function reason(text) {
  const why = $("#why");
  why.value = picked = text;
  touched.add(why);
  filter(why);
  check(why);
}

function press(one) {
  for (const other of $$(".word, .chip")) other.setAttribute("aria-pressed", String(other === one));
  reason(one.value);
}

// Shift extends the phrase from the word that is picked to the one clicked, within a cell.
function extend(to) {
  const from = $(".word[aria-pressed=true]");
  const all = $$(".word", to.parentElement);
  if (!from || !all.includes(from) || !to.dataset.word) return press(to);
  const [a, b] = [all.indexOf(from), all.indexOf(to)].sort((x, y) => x - y);
  all.forEach((one, n) => one.setAttribute("aria-pressed", String(n >= a && n <= b)));
  const range = document.createRange();
  range.setStartBefore(all[a]);
  range.setEndAfter(all[b]);
  const phrase = range.toString().toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
  reason(all[a].value.replace(`"${all[a].dataset.word}"`, () => `"${phrase}"`));
}

// Arrows go from word to word and from limit to limit: left and right in reading order, up and down by line.
function step(key, shift) {
  const all = $$(".word, .chip").filter(seen);
  if (!all.length || !$("#why")) return false;
  const pressed = all.map((one, n) => [one.getAttribute("aria-pressed") === "true", n]).filter(([is]) => is);
  const now = pressed.length ? pressed.at(key === "ArrowLeft" && !shift ? 0 : -1)[1] : -1;
  let to = now < 0 ? 0 : now + { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (now >= 0 && (key === "ArrowDown" || key === "ArrowUp")) {
    const at = all[now].getBoundingClientRect();
    const way = key === "ArrowDown" ? 1 : -1;
    const far = all.map((one, n) => [one.getBoundingClientRect(), n]).filter(([r]) => (r.top - at.top) * way > 8);
    far.sort(([a], [b]) => Math.abs(a.top - at.top) - Math.abs(b.top - at.top) || Math.abs(a.left - at.left) - Math.abs(b.left - at.left));
    to = far[0]?.[1] ?? now;
  }
  const one = all[Math.max(0, Math.min(to, all.length - 1))];
  if (shift) extend(one);
  else press(one);
  one.scrollIntoView({ block: "nearest" });
  return true;
}

// The next nine suggestions that fit, or those before, get the digits.
function turn(way) {
  const all = $$("#reasons li:not(.new)").filter((line) => line.dataset.fits !== "no");
  const at = Math.max(0, all.findIndex((line) => !line.hidden));
  const start = at + 9 * way;
  if (start < 0 || start >= all.length) return;
  digits(all, start);
}

function digits(all, start = 0) {
  all.forEach((line, n) => {
    const has = n >= start && n < start + 9;
    line.hidden = !has;
    const button = $("button", line);
    if (has) button.dataset.key = n - start + 1;
    else delete button.dataset.key;
    $("kbd", line).textContent = has ? n - start + 1 : "";
  });
}

// ---- boxes that filter a list: Enter takes what is called so, else begins so, else has it in it
// (`match_label` in sessions/phrasing.py is the same rule). An article is no part of a label.

function filter(input) {
  const list = $(input.dataset.filters);
  const reasons = list.id === "reasons";
  const text = input.value.trim();
  const bare = list.id === "labels" ? text.replace(/^an? (?=\S)/i, "") : text.replace(/^\//, "");
  const made = bare.toLowerCase().startsWith("new:") || bare.startsWith("#");
  const wanted = (list.id === "commands" ? bare.split(" ")[0] : bare).toLowerCase();
  const name = (line) => (line.dataset.name ?? (reasons ? $("button", line).dataset.said : $("button", line).value)).toLowerCase();
  const lines = $$("li:not(.new)", list);
  const fits = (line) => !made && !line.dataset.guess && ((reasons ? name(line) : ` ${name(line)}`).includes(reasons ? wanted : ` ${wanted}`) || (reasons && $("button", line).value.toLowerCase().includes(wanted)));
  const fit = picked ? lines : lines.filter(fits);
  if (reasons) {
    for (const line of lines) line.dataset.fits = fit.includes(line) ? "yes" : "no";
    for (const line of lines) line.hidden = true;
    digits(fit);
  } else for (const line of lines) line.hidden = line.dataset.guess !== undefined || !fit.includes(line);
  const open = lines.filter((line) => fit.includes(line) && line.dataset.guess === undefined);
  const guess = lines.find((line) => line.dataset.guess !== undefined && name(line) === wanted);
  const first = wanted && !picked && (guess ?? open.find((line) => name(line) === wanted) ?? open.find((line) => name(line).startsWith(wanted)) ?? open[0]);
  const fresh = $("li.new", list);
  for (const line of lines) line.classList.toggle("taken", line === first);
  if (fresh) {
    const label = bare.replace(/^(new:|#)/i, "").trim();
    const named = lines.some((line) => name(line) === wanted);
    const noReason = known[0] === input.value && !known[1] && !known[2]; // what is one is no tag
    fresh.hidden = !label || Boolean(picked) || (reasons ? !bare.startsWith("#") && (fit.length > 0 || !noReason) : named);
    const button = $("button", fresh);
    button.value = label;
    if (!reasons) button.dataset.typed = text;
    $("b", fresh).textContent = label;
    fresh.classList.toggle("taken", !fresh.hidden && !first && (!reasons || bare.startsWith("#")));
  }
  return first || (fresh && !fresh.hidden && (!reasons || bare.startsWith("#")) ? fresh : null); // no slip makes a tag
}

let latest = 0;
let known = ["", false, null]; // the last text that was checked, whether it is a reason, or what it means
async function check(input) {
  const number = ++latest;
  const told = document.getElementById(input.getAttribute("aria-describedby").split(" ").at(-1));
  const text = input.value;
  if (!text.trim() || text.startsWith("#")) {
    told.textContent = "";
    return;
  }
  if (text !== picked) await wait(120);
  if (number !== latest) return;
  const url = new URL(input.dataset.check, document.baseURI);
  url.searchParams.set("feature", text);
  const answer = await ask(url, {});
  if (number !== latest || !input.isConnected) return;
  const found = await answer.json();
  known = [text, found.valid, found.meant];
  const hit = found.valid === false && !found.meant && filter(input);
  told.textContent = hit ? `Enter takes ${$("button", hit).dataset.said}.` : found.says ?? found.error;
  told.className = `means ${found.tells ? "good" : hit ? "" : "bad"}`;
}

// Enter in the box of a reason saves what is typed, if it is one by itself; else what the line below says.
async function enterReason(input) {
  const hit = filter(input);
  const text = input.value;
  if (!picked && known[0] !== text && !text.startsWith("#")) {
    const url = new URL(input.dataset.check, document.baseURI);
    url.searchParams.set("feature", text);
    const found = await (await ask(url, {})).json();
    known = [text, found.valid, found.meant];
    if (!input.isConnected || input.value !== text) return;
  }
  const meant = !picked && known[0] === text && known[2];
  if (meant) reason(meant);
  const typed = picked || known[1];
  if (!typed && hit) $("button", hit).click();
  else input.form.requestSubmit($("[data-key=enter]", input.form));
}

// ---- dialogs

function open(name) {
  const dialog = document.getElementById(name);
  if (!dialog || dialog.open) return;
  dialog.showModal();
  const input = $("input", dialog);
  if (input && name === "menu") {
    input.value = "";
    filter(input);
    for (const line of $$(".box[hidden]", dialog)) line.hidden = true;
    for (const asks of $$("form > .box", dialog)) asks.hidden = true;
  }
  (name === "menu" ? input : $("h2", dialog)).focus(); // help is read from its heading on; commands are typed
}

// A command that asks for words: they stand behind it already, or are asked for.
function words(button) {
  const text = $("#command")?.value.trim().replace(/^\S+\s*/, "") ?? "";
  const input = $("[name=text]", button.form);
  input.parentElement.hidden = false;
  input.value = text;
  if (text) setTimeout(() => button.form.requestSubmit()); // not while it is being submitted
  else input.focus();
}

function chooseCommand(key) {
  const lines = $$("#commands li").filter(seen);
  const at = lines.findIndex((line) => line.classList.contains("taken"));
  const to = lines[Math.max(0, Math.min(at + (key === "ArrowDown" ? 1 : -1), lines.length - 1))];
  for (const line of lines) line.classList.toggle("taken", line === to);
  to?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("click", async (event) => {
  const at = event.target.closest?.("button, a");
  if (!at || event.defaultPrevented) return;
  const plain = !event.button && !event.ctrlKey && !event.metaKey;
  if (at.matches(".word, .chip")) {
    event.preventDefault();
    if (event.shiftKey) extend(at);
    else if (at.getAttribute("aria-pressed") === "true" && picked) at.form.requestSubmit($("[data-key=enter]", at.form));
    else press(at);
    if (fine) $("#why").focus({ preventScroll: true });
  } else if (at.dataset.open && plain) {
    event.preventDefault();
    open(at.dataset.open);
  } else if (at.dataset.card && plain) {
    event.preventDefault();
    send(at.dataset.card, {});
  } else if (at.dataset.single !== undefined) {
    store["single keys"] = single() ? "off" : "on";
    at.textContent = `Turn single keys ${single() ? "off" : "on"}`;
  } else if (at.dataset.close !== undefined) at.closest("dialog").close();
  else if (at.dataset.copy) {
    const from = $(at.dataset.copy);
    const before = at.textContent;
    try {
      await navigator.clipboard.writeText(from.textContent);
      at.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(from); // no clipboard without TLS, save on this machine
      at.textContent = "Ctrl C";
    }
    await wait(1500);
    at.textContent = before;
  }
});

document.addEventListener("focusin", ({ target }) => {
  if (target.closest?.("#pages, .tabs")) target.scrollIntoView({ block: "nearest", inline: "center" });
});

// ---- many at once

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submits]")) event.target.form.requestSubmit();
  if (!event.target.closest(".sweep")) return;
  const [all, wrong] = ["", ":checked"].map((which) => $$(`.sweep input${which}`).length);
  const words = { 0: `All ${all} are right`, [all]: `All ${all} are wrong` };
  $("#accepts").textContent = words[wrong] ?? `${all - wrong} right, ${wrong} wrong`;
});

function stepSweep(key) {
  const boxes = $$(".sweep input");
  const top = (one) => one.closest("li").offsetTop;
  const wide = boxes.filter((one) => top(one) === top(boxes[0])).length;
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -wide, ArrowDown: wide }[key];
  const at = boxes.indexOf(document.activeElement);
  boxes[at < 0 ? 0 : Math.max(0, Math.min(at + by, boxes.length - 1))]?.focus();
  return boxes.length > 0;
}

// ---- keys

document.addEventListener("input", (event) => {
  const input = event.target;
  if (input.matches?.("input, textarea")) touched.add(input);
  if (input.id === "why" && picked) {
    picked = "";
    for (const one of $$("[aria-pressed=true]")) one.setAttribute("aria-pressed", "false");
  }
  if (input.dataset?.filters) filter(input);
  if (input.dataset?.check) check(input);
});

function typeAhead() {
  const input = box();
  if (input) {
    input.focus({ preventScroll: true });
    input.value = ahead;
    touched.add(input);
    filter(input);
    if (input.dataset.check) check(input);
  }
  ahead = "";
}

// A key that comes sooner than anybody has looked at a page records nothing on it.
const unseen = (event, target) => target?.form?.method === "post" && event.timeStamp - opened < SEEN;

// Do what has this key.
function does(key, event) {
  const target = $$("[data-key]").find((one) => one.dataset.key.split(" ").includes(key) && (seen(one) || key.startsWith("ctrl")) && !one.disabled);
  if (!target || event.repeat) return Boolean(target);
  if (!unseen(event, target)) target.click();
  return true;
}

function clear(input) {
  input.value = "";
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.isComposing) return;
  const done = () => event.preventDefault();
  const dialog = $("dialog[open]");
  const input = typing(target) ? target : null;
  const letter = key === " " ? "space" : key.toLowerCase();
  const own = Object.entries(OTHER).find(([, wanted]) => wanted === letter)?.[0];
  if (own && !busy && (/^\p{L}$/u.test(letter) ? event.altKey : !input || !input.value) && !event.ctrlKey) {
    const one = $(`[data-action="${own}"]`);
    if (one && !event.repeat && !unseen(event, one)) (done(), one.click());
    if (one) return;
  }
  if (event.altKey) return;
  if (event.ctrlKey || event.metaKey) {
    const way = { z: event.shiftKey ? "ctrl+y" : "ctrl+z", y: "ctrl+y" }[key.toLowerCase()];
    if (way && !dialog && (!input || !input.value || (input === box() && picked))) {
      done(); // in a box with text, it is the text's undo
      if (!busy) does(way, event);
    }
    return;
  }
  if (dialog) {
    if (target.id === "command" && key === "Enter") {
      done();
      const hit = $("#commands .taken") ?? filter(target);
      if (hit && !event.repeat) $("button, a", hit).click();
    } else if (target.id === "command" && (key === "ArrowDown" || key === "ArrowUp")) (done(), chooseCommand(key));
    return;
  }
  if (busy) {
    if (key === "Enter") done(); // for a page that nobody has seen
    else if (key === "Backspace") (done(), (ahead = ahead.slice(0, -1)));
    else if (key.length === 1) {
      done();
      if (ahead || /^\p{L}$/u.test(key)) ahead += key; // a digit is for what nobody has seen
    }
    return;
  }
  const empty = !input || (input === box() && (!input.value || picked));
  if (key.startsWith("Arrow") && empty) { // in typed text, arrows move the caret
    if ($(".sweep") && (!input || target.closest(".sweep")) ? stepSweep(key) : step(key, event.shiftKey)) done();
  } else if ((key === "PageDown" || key === "PageUp") && $("#reasons") && (empty || input === box())) {
    done();
    turn(key === "PageDown" ? 1 : -1);
  } else if (key === "Escape") {
    done();
    if (input?.value && input.dataset.types !== undefined) clear(input);
    else if (input && input.dataset.types === undefined && input.dataset.keep === undefined) input.blur();
    else does("escape", event);
  } else if (key === "Enter" && !target.matches("a, button, summary, select, textarea")) {
    if (input && input !== box()) return; // another box: its form is sent
    done();
    if (event.repeat || (input?.value && unseen(event, input))) return;
    if (input?.id === "why") {
      if (input.value) enterReason(input); // an empty box says nothing
    }
    else if (input?.value && input.dataset.filters) {
      const hit = filter(input);
      if (hit) $("button", hit).click();
    } else does("enter", event);
  } else if (!single() && /^[\d?/#]$/.test(key)) {
    // they are text, or nothing
  } else if (empty && (key === "?" || key === "/")) {
    done();
    open(key === "?" ? "help" : "menu");
  } else if (empty && /^\d$/.test(key)) {
    done();
    does(key, event);
  } else if (key.length === 1 && box() && (!input || target === box()) && (key !== " " || target === box())) {
    if (picked) clear(box()); // a letter begins anew
    box().focus({ preventScroll: true }); // and the letter goes into it
  }
});

// ---- add a table: dropped on the front page, or chosen

const drop = $("#drop");
async function upload(table) {
  if (!table) return;
  const told = $("#dropped");
  told.textContent = `Reading ${table.name} …`;
  told.className = "";
  const answer = await fetch(`/upload?${new URLSearchParams({ name: table.name })}`, {
    method: "POST",
    body: table,
    headers: { "X-Fragment": "1", "Content-Type": "application/octet-stream" },
  }).catch(() => null);
  if (answer?.ok) return go(answer.url);
  const found = await answer?.json().catch(() => null);
  told.textContent = found?.error ?? "The server does not answer. Nothing was added.";
  told.className = "bad";
  $("#file").value = "";
}
if (drop) {
  $("#file").addEventListener("change", ({ target }) => upload(target.files[0]));
  drop.addEventListener("submit", (event) => event.preventDefault());
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"])
    document.addEventListener(kind, (event) => {
      event.preventDefault(); // a file that misses the zone is not opened instead of the page
      drop.classList.toggle("over", kind === "dragover" || kind === "dragenter");
      if (kind === "drop") upload(event.dataTransfer.files[0]);
    });
}

begin();
