// Before the first paint, so that a dark page never flashes white. A file of its own: no inline script is allowed.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; the system's own theme serves.
}
