// A classic script that runs before the page is drawn, so that no other colors flash up. Its key is that of
// `writeStored('visits', 'theme', …)`.
try {
  document.documentElement.dataset.theme = localStorage.getItem('dramatis.theme') ?? '';
} catch {
  // Storage may be forbidden: the colors are then those of the system.
}
