// The pages of tellapart in a frame of a notebook. What they ask of their server goes to Python as messages.

const ORIGIN = "http://localhost";

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "tellapart";
  frame.style.cssText = "width: 100%; border: 1px solid #8884; border-radius: 8px; background: Canvas; resize: vertical";
  const waiting = new Map();
  let last = 0;

  function hear(answer, buffers) {
    waiting.get(answer.id)?.({ ...answer, bytes: buffers[0] });
    waiting.delete(answer.id);
  }

  // As fetch does, but of Python.
  async function ask(url, { method = "GET", body = null, headers = {} } = {}) {
    const { pathname, search } = new URL(url, ORIGIN);
    if (body?.constructor?.name === "URLSearchParams") headers = { ...headers, "Content-Type": "application/x-www-form-urlencoded" };
    const id = ++last;
    const answer = await new Promise((done) => {
      waiting.set(id, done);
      model.send({ id, method, url: pathname + search, headers, body: body === null ? null : String(body) });
    });
    const made = new Response(answer.status === 204 ? null : answer.bytes, { status: answer.status, headers: answer.headers });
    Object.defineProperty(made, "url", { value: answer.url });
    return made;
  }

  const text = async (element) => (await ask(element.getAttribute("href") ?? element.getAttribute("src"))).text();
  const data = async (url) => {
    const blob = await (await ask(url)).blob();
    return new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result);
      reader.readAsDataURL(blob);
    });
  };

  // Show a page, with everything it needs in it; or keep a file that it is.
  async function open(url, options) {
    const answer = await ask(url, options);
    const kept = /filename\*?="?(?:utf-8'')?([^";]+)/i.exec(answer.headers.get("content-disposition") ?? "");
    if (kept) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await answer.blob());
      link.download = decodeURIComponent(kept[1]);
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const link of page.querySelectorAll("link[rel=stylesheet]")) {
      const style = page.createElement("style");
      style.textContent = await text(link);
      link.replaceWith(style);
    }
    const scripts = [];
    for (const script of page.querySelectorAll("script[src]")) {
      scripts.push(await text(script));
      script.remove();
    }
    for (const image of page.querySelectorAll("img[src^='/']")) image.src = await data(image.getAttribute("src"));
    const base = page.createElement("base"); // what addresses in the page begin with
    base.href = answer.url;
    page.head.prepend(base);
    frame.onload = () => begin(new URL(url, ORIGIN).hash.slice(1), scripts);
    frame.srcdoc = `<!doctype html>${page.documentElement.outerHTML}`;
  }

  // A page has come: it asks us, and so do its links and forms, as far as it does not see to them itself.
  function begin(hash, scripts) {
    const [inside, page] = [frame.contentWindow, frame.contentDocument];
    Object.assign(inside, { fetch: ask, openPage: open });
    inside.addEventListener("click", (event) => {
      const link = event.target.closest?.("a[href]");
      if (event.defaultPrevented || link?.origin !== ORIGIN) return;
      event.preventDefault();
      if (link.getAttribute("href").startsWith("#")) page.getElementById(link.hash.slice(1))?.scrollIntoView();
      else open(link.href);
    });
    inside.addEventListener("submit", (event) => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      const form = event.target;
      const sent = new URLSearchParams(new inside.FormData(form, event.submitter));
      const url = new URL(event.submitter?.getAttribute("formaction") ?? form.action, form.action);
      if (form.method === "post") return open(url, { method: "POST", body: sent });
      url.search = sent;
      open(url);
    });
    for (const script of scripts) {
      const made = page.createElement("script");
      made.type = "module";
      made.textContent = script;
      page.head.append(made);
    }
    if (hash) page.getElementById(hash)?.scrollIntoView();
  }

  const size = () => (frame.style.height = `${model.get("height")}px`);
  size();
  model.on("change:height", size);
  model.on("msg:custom", hear);
  el.append(frame);
  open(model.get("address"));
  return () => {
    model.off("change:height", size);
    model.off("msg:custom", hear);
  };
}

export default { render };
