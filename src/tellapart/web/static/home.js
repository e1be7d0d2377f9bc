// Add a table: dropped on the page, or chosen.

const drop = document.getElementById("drop");
const file = document.getElementById("file");
const said = document.getElementById("dropped");

async function send(table) {
  if (!table) return;
  said.textContent = `Sending ${table.name} …`;
  said.className = "";
  const answer = await fetch(`/upload?${new URLSearchParams({ name: table.name })}`, {
    method: "POST",
    body: table,
    headers: { "X-Fragment": "1", "Content-Type": "application/octet-stream" },
  }).catch(() => null);
  if (answer?.ok) {
    location.assign(answer.url);
    return;
  }
  const told = await answer?.json().catch(() => null);
  said.textContent = told?.error ?? "The server does not answer. Nothing was added.";
  said.className = "no";
  file.value = "";
}

file.addEventListener("change", () => send(file.files[0]));
drop.addEventListener("submit", (event) => event.preventDefault());
for (const kind of ["dragenter", "dragover", "dragleave", "drop"])
  document.addEventListener(kind, (event) => {
    event.preventDefault(); // a file that misses the zone is not opened instead of the page
    drop.classList.toggle("over", kind.startsWith("drago") || kind === "dragenter");
    if (kind === "drop") send(event.dataTransfer.files[0]);
  });
