// Keys, forms that swap a part of the page, links, lists that filter, conditions checked while typing.

const KEY = { Enter: "enter", Escape: "escape", " ": "space", Backspace: "backspace", Delete: "delete", Tab: "tab" };
const GONE = "If the server was stopped, start it again with the same command: this page then goes on by itself. If it opens at another address, use that one and close this page; only the last answer is to be given again.";
const SEEN = 250; // milliseconds: nobody has looked at anything sooner
const LOOKED = 500; // and now somebody has looked at an item
const MANY = 20; // lines; how many are shown at first is in style.css
const MAC = /Mac|iP/.test(navigator.platform); // there, Alt and a letter is another letter
let busy = false;
let ahead = ""; // what was typed before the page it is meant for was there
let swapped = -Infinity;
let opened = document.referrer.startsWith(location.origin) ? performance.now() : -Infinity; // the whole page
let going; // to another page: what stops that
const still = matchMedia("(prefers-reduced-motion: reduce)");

const typing = (element) => element?.matches?.("input:not([type=hidden], [type=checkbox]), textarea, select, [contenteditable]");
const inSight = (element) => !element.disabled && element.getClientRects().length > 0;
const isLetter = (key) => /^\p{L}$/u.test(key);

function complain(text) {
  const trouble = document.getElementById("trouble");
  if (text === trouble.textContent) return;
  trouble.textContent = text;
  trouble.hidden = text === "";
  if (text) trouble.scrollIntoView({ block: "nearest" });
}

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const typed = new Set(); // boxes somebody typed in: what is typed is not in the attributes

// Make an element like another. What is the same already stays: to draw it anew costs most of the time.
function become(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
    old.replaceWith(fresh);
    return;
  }
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

const scrolled = new Set();
document.addEventListener("scroll", (event) => scrolled.add(event.target), { capture: true, passive: true });

// The line over the next item is drawn anew: nobody takes it for the one before. The item itself is
// there at once, and neither the first picture of it nor a key waits for this. Who goes on at once is
// not looking for it.
function arrive() {
  if (still.matches || performance.now() - swapped < LOOKED) return;
  const line = { duration: 250, easing: "ease-out", pseudoElement: "::before" };
  const draw = () => document.querySelector("#card .mine")?.animate([{ transform: "scaleX(0)" }, {}], line);
  requestAnimationFrame(() => setTimeout(draw));
}

// Every element of the answer that has an id takes the place of the one that has it here.
function swap(html) {
  const before = document.getElementById("card")?.dataset.given;
  const box = document.createElement("template");
  box.innerHTML = html;
  if (document.querySelector(".pair details[open]:not([data-auto])")) box.content.querySelector(".pair details")?.setAttribute("open", "");
  for (const long of box.content.querySelectorAll("#features, .pair tbody")) if (long.children.length > MANY) long.classList.add("part");
  for (const fresh of [...box.content.children]) {
    const old = fresh.id && document.getElementById(fresh.id);
    if (old) become(old, fresh);
  }
  for (const box of typed) box.value = box.defaultValue;
  typed.clear();
  announce();
  const first = document.querySelector("#card [data-focus]") ?? document.querySelector("#card h1");
  first?.focus({ preventScroll: true });
  if (ahead) typeAhead();
  for (const box of scrolled) if (box.scrollTop && box.closest?.("#card")) box.scrollTop = 0;
  scrolled.clear();
  // on a small screen, what is new may lie above or below
  const top = document.querySelector("#card [data-top]");
  const at = top?.getBoundingClientRect().top;
  if (at < 0 || at > innerHeight * 0.7) top.scrollIntoView();
  for (const box of document.querySelectorAll("input[data-check]")) check(box);
  // what is out of sight is drawn after what is in sight
  const parts = document.querySelectorAll(".part");
  if (parts.length) requestAnimationFrame(() => setTimeout(() => parts.forEach((long) => long.classList.remove("part"))));
  if (document.getElementById("card")?.dataset.given !== before) arrive();
  swapped = performance.now();
}

// What does not fit is opened with a click: a long cell, the line at the bottom.
document.addEventListener("click", (event) => {
  if (!String(getSelection())) event.target.closest?.(".clamp, #status")?.classList.toggle("open");
});

// For those who listen: the new sentence, and that all is saved.
function announce() {
  const parts = ["#card .told", "#card h1", "#status li"].map((part) => document.querySelector(part)?.textContent.trim());
  document.getElementById("voice").textContent = parts.filter(Boolean).join(" ");
}

const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Ask until there is an answer: a repeat carries the same id, so nothing is done twice.
async function ask(url, options) {
  for (let turn = 0; ; turn += 1) {
    let trouble = "The server does not answer.";
    try {
      const answer = await fetch(url, { ...options, headers: { "X-Fragment": "1" }, redirect: "follow" });
      if (answer.status < 502 || answer.status > 504) {
        if (turn) complain("");
        return answer;
      }
      trouble = `${JSON.parse(await answer.text()).error}.`; // such as a full disk
    } catch {
      // no connection, or a proxy's answer
    }
    const lasting = turn > 3 ? ` ${GONE}` : "";
    complain(`${trouble} What was saved is safe, and so is your last answer: it is sent again until it arrives.${lasting}`);
    await wait(Math.min(250 * 2 ** turn, 3000));
  }
}

// Until something is there, the page is seen, and must not be heard.
async function whileBusy(something) {
  busy = true;
  // only when it takes long: every change of the page costs a frame
  const late = setTimeout(() => document.getElementById("main").setAttribute("aria-busy", "true"), 250);
  try {
    await something();
  } finally {
    busy = false;
    ahead = ""; // nothing came that it could be for
    clearTimeout(late);
    document.getElementById("main").removeAttribute("aria-busy");
  }
}

function filled(form, button) {
  const data = new FormData(form);
  if (button?.name) data.append(button.name, button.value);
  return data;
}

function asked(form, data) {
  const url = new URL(form.action);
  url.search = new URLSearchParams(data);
  return url;
}

function send(form, button) {
  if (busy) return;
  whileBusy(async () => {
    const data = filled(form, button);
    const given = document.getElementById("card")?.dataset.given;
    if (given) data.set("given", given);
    let answer;
    if (form.method === "get") answer = await ask(asked(form, data), {});
    else {
      if (!data.get("id")) data.set("id", newId());
      answer = await ask(form.action, { method: "POST", body: new URLSearchParams(data) });
    }
    const text = await answer.text();
    if (answer.ok) {
      complain("");
      if (answer.headers.get("X-Swap")) swap(text);
      else await openPage(answer.url, text);
    } else {
      let message = `Another program answers at this address (${answer.status}). ${GONE}`;
      try {
        message = JSON.parse(text).error?.split("\n")[0] ?? message; // below it, only where it stands
        if (answer.status === 401) message = `The server was started anew and does not know this page. Open the address that it printed; everything saved is there.`;
      } catch {
        // not in our shape
      }
      complain(message);
    }
  });
}

const inSession = (page) => page.querySelector("header nav");

// Another page takes the place of this one, without a moment in which nobody listens: what is typed
// meanwhile is kept for it. Pages that have other scripts or no scripts are left to the browser.
async function openPage(url, html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  if (!inSession(fresh) || !inSession(document)) {
    location.assign(url);
    await wait(3000);
    return;
  }
  const move = String(url) === location.href ? "replaceState" : "pushState";
  const main = fresh.getElementById("main");
  document.title = fresh.title;
  if (move === "pushState") history.replaceState({ y: scrollY }, ""); // for who comes back
  history[move](null, "", url);
  document.body.replaceChildren(...fresh.body.childNodes);
  here = page();
  typed.clear();
  scrolled.clear();
  const first = main.querySelector("[autofocus]") ?? main.querySelector("h1");
  if (first.matches("h1")) first.tabIndex = -1;
  first.focus({ preventScroll: true });
  begin();
  const part = document.getElementById(decodeURIComponent(new URL(url, location.href).hash.slice(1)));
  if (part) part.scrollIntoView();
  else scrollTo(0, 0);
  if (ahead) typeAhead();
  opened = swapped = performance.now();
}

// Go to another page as a link does.
function visit(url) {
  going = new AbortController();
  whileBusy(async () => {
    try {
      const answer = await fetch(url, { signal: going.signal });
      if (!answer.ok) throw new Error(answer.status);
      await openPage(answer.redirected ? answer.url : url, await answer.text());
    } catch {
      if (!going.signal.aborted) location.assign(url); // the browser shows what went wrong
      await wait(3000);
    }
  });
}

const page = () => location.pathname + location.search;
let here = page();
addEventListener("popstate", () => page() !== here && location.reload()); // back
if (history.state?.y) {
  history.scrollRestoration = "manual";
  addEventListener("load", () => scrollTo(0, history.state.y));
}
addEventListener("pageshow", () => (busy = false)); // back to a page that the browser kept

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.target || link.hasAttribute("download") || link.origin !== location.origin || !link.pathname.startsWith("/s/") || !inSession(document)) return;
  if (link.hash && link.pathname + link.search === page()) return;
  if (busy) {
    going?.abort(); // and the browser goes where the second link leads
    return;
  }
  event.preventDefault();
  visit(link.href);
});

// The second half of a double click is no answer to what has just appeared under it.
document.addEventListener(
  "click",
  (event) => {
    // when it was clicked, not when we come to it: on a busy machine that is later
    if (event.detail > 1 && event.timeStamp - swapped < SEEN && event.target.closest?.("form[data-swap]")) event.preventDefault();
  },
  { capture: true },
);

// A cell that differs is as good as the button of its column.
document.addEventListener("click", (event) => {
  const cell = event.target.closest?.(".pair tr.differs td");
  if (cell && !String(getSelection())) cell.parentElement.querySelector("button[name=column]")?.click();
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.matches("form[data-swap]")) {
    event.preventDefault();
    send(form, event.submitter);
  } else if (form.method === "get" && inSession(document)) {
    event.preventDefault();
    if (!busy) visit(asked(form, filled(form, event.submitter)));
  }
});

// Letters are for typing: a word typed anywhere goes to the box that filters labels or candidates, and
// what has a letter for its key needs Alt. So no word that is typed can record an answer.
const typeBox = () => [...document.querySelectorAll("input[data-types]")].find(inSight);

function typeAhead() {
  const box = typeBox();
  if (box) {
    box.focus({ preventScroll: true });
    box.value = ahead;
    typed.add(box);
    filter(box);
  }
  ahead = "";
}

function leave(box) {
  if (box.dataset.types !== undefined) {
    box.value = "";
    filter(box);
  }
  box.blur();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.isComposing) return;
  const box = event.target;
  if (event.altKey) {
    const letter = event.key.toLowerCase();
    const place = event.code.replace(/^Key/, "").toLowerCase(); // where Greek and Cyrillic keyboards have a Latin letter
    const key = MAC || (!/^[a-z]$/.test(letter) && !keyed(letter)) ? place : letter;
    if (!busy && !event.repeat && isLetter(key) && !(MAC && typing(box))) press(key, event);
    return;
  }
  const key = KEY[event.key] ?? event.key.toLowerCase();
  if (busy && event.key.length === 1 && (isLetter(key) || ahead || box.dataset?.types !== undefined)) {
    event.preventDefault();
    ahead += event.key;
    return;
  }
  if (busy) {
    if (key === "backspace") ahead = ahead.slice(0, -1);
    if (key === "enter") event.preventDefault(); // for a page that nobody has seen
    return;
  }
  if (typing(box)) {
    if (key === "escape") {
      event.preventDefault();
      leave(box);
    } else if (key === "enter" && box.dataset.filters) {
      event.preventDefault();
      pick(box, event);
    }
    return;
  }
  if (isLetter(key)) {
    typeBox()?.focus({ preventScroll: true }); // and the letter goes into it
    return;
  }
  if (key === "enter" && box.matches("a, button, summary")) return; // Enter on a button is that button
  if (key === "space" && box.matches("a, button, summary, input")) return;
  if (key.startsWith("arrow") && step(key)) {
    event.preventDefault();
    return;
  }
  if (!event.repeat) press(key, event);
});

// In a sweep, arrows go from item to item.
function step(key) {
  const boxes = [...document.querySelectorAll(".sweep input")];
  const at = boxes.indexOf(document.activeElement);
  if (!boxes.length) return false;
  const top = (box) => box.closest("li").offsetTop;
  const wide = boxes.filter((box) => top(box) === top(boxes[0])).length;
  const by = { arrowleft: -1, arrowright: 1, arrowup: -wide, arrowdown: wide }[key];
  boxes[at < 0 ? 0 : Math.min(Math.max(at + by, 0), boxes.length - 1)].focus();
  return true;
}

// The next nine candidates get the digits; after the last, the first again.
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-turn]")) return;
  const all = [...document.querySelectorAll("#features button")];
  const lines = all.filter((line) => !line.closest("li").hidden);
  const next = lines.findIndex((line) => line.dataset.key === "1") + 9;
  const start = next < lines.length ? next : 0;
  for (const line of all) {
    const digit = lines.indexOf(line) - start + 1;
    const has = digit > 0 && digit < 10;
    if (has) line.dataset.key = digit;
    else delete line.dataset.key;
    line.querySelector("kbd").textContent = has ? digit : "";
    line.querySelector("kbd").classList.toggle("none", !has);
  }
  if (lines.length) document.getElementById("features").scrollTop = lines[start].offsetTop - lines[0].offsetTop;
});

// What accepting would do now.
document.addEventListener("change", (event) => {
  if (!event.target.closest(".sweep")) return;
  const [all, wrong] = ["", ":checked"].map((which) => document.querySelectorAll(`.sweep input${which}`).length);
  const right = { 0: "", [all]: `accept all ${all}` }[all - wrong] ?? `accept ${all - wrong}`;
  document.getElementById("accepts").textContent = [right, wrong && `correct ${wrong}`].filter(Boolean).join(", ");
});

const keyed = (key) => [...document.querySelectorAll("[data-key]")].find((element) => element.dataset.key.split(" ").includes(key) && inSight(element));

// A key that comes sooner than anybody has looked at a page does not record anything on it.
const unseen = (button, event) => button.form?.method === "post" && event.timeStamp - opened < SEEN;

// Do what has this key.
function press(key, event) {
  const target = keyed(key);
  if (!target) return;
  event.preventDefault();
  if (unseen(target, event)) return;
  if (typing(target)) {
    target.focus();
    target.select?.();
  } else target.click();
}

// What Enter takes among the lines of a list: the one called so, else one that begins so, else the first
// that has it in it. `typed` in sessions/labels.py is the same rule.
function first(lines, wanted) {
  const name = (line) => (line.querySelector("button").value || "").toLowerCase();
  return lines.find((line) => name(line) === wanted) ?? lines.find((line) => name(line).startsWith(wanted)) ?? lines[0];
}

function filter(box) {
  const list = document.querySelector(box.dataset.filters);
  const fresh = list.querySelector("li.new");
  const text = box.value.trim();
  const wanted = text.toLowerCase();
  const made = wanted.startsWith("new:") && fresh;
  const lines = [...list.querySelectorAll("li:not(.new)")];
  for (const line of lines) {
    const value = line.querySelector("button").value.toLowerCase();
    const said = fresh ? "" : line.querySelector("span").textContent.toLowerCase(); // what a label means is not its name
    line.hidden = made ? value !== wanted : !`${value} ${said}`.trim().includes(wanted);
  }
  const left = lines.filter((line) => !line.hidden);
  if (fresh) {
    const label = made ? text.slice(4).trim() : text;
    fresh.hidden = !label || left.some((line) => line.querySelector("button").value.toLowerCase() === wanted);
    fresh.querySelector("button").value = label;
    fresh.querySelector("strong").textContent = label;
  }
  const taken = wanted ? (first(left, wanted) ?? (fresh?.hidden ? null : fresh)) : null;
  for (const line of [...lines, fresh]) line?.classList.toggle("taken", line === taken);
  return taken ?? left[0];
}

// Enter in a filter takes the first that fits.
function pick(box, event) {
  const button = filter(box)?.querySelector("button");
  if (button && box.value.trim() && !unseen(button, event)) button.click();
}

let latest = 0;
async function check(box) {
  const number = ++latest;
  const said = document.getElementById(box.getAttribute("aria-describedby"));
  if (!box.value.trim()) {
    said.textContent = "";
    return;
  }
  await wait(120);
  if (number !== latest) return;
  const url = new URL(box.dataset.check, location.href);
  url.searchParams.set("feature", box.value);
  const answer = await ask(url, {});
  if (number !== latest || !box.isConnected) return;
  const told = await answer.json();
  said.textContent = told.says ?? told.error;
  said.className = `said ${told.tells ? "ok" : "no"}`;
}

document.addEventListener("input", (event) => {
  if (event.target.matches?.("input, textarea")) typed.add(event.target);
  if (event.target.dataset?.filters) filter(event.target);
  if (event.target.dataset?.types !== undefined && !event.target.value && !event.isComposing) event.target.blur(); // keys are keys again
  if (event.target.dataset?.check) check(event.target);
});

document.addEventListener("click", async (event) => {
  const copy = event.target.closest?.("[data-copy]");
  if (!copy) return;
  const from = document.querySelector(copy.dataset.copy);
  try {
    await navigator.clipboard.writeText(from.textContent);
    copy.textContent = "copied";
  } catch {
    getSelection().selectAllChildren(from); // no clipboard without TLS, save on this machine
    copy.textContent = "Ctrl-C";
  }
  await wait(1500);
  copy.textContent = "copy";
});

// What a page begins with.
function begin() {
  // on a small screen the pages are in one line, and this one may be out of sight
  document.querySelector("header nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}
begin();
