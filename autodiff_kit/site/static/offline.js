// Files of this site are kept when they are loaded, and taken from there without a network.
const KEPT = "autodiff-kit";
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  const isAnswered = origin === location.origin && /\/api\/(drive|stdin|service)/.test(pathname);
  const isFile = request.method === "GET" && /^https?:/.test(request.url) && !isAnswered;
  if (!isFile) return; // what JupyterLite answers itself
  event.stopImmediatePropagation();
  event.respondWith(
    (async () => {
      const cache = await caches.open(KEPT);
      try {
        const answer = await fetch(request);
        if (answer.ok) event.waitUntil(cache.put(request, answer.clone()));
        return answer;
      } catch (error) {
        const kept = (await cache.match(request)) ?? (await cache.match(request, { ignoreSearch: true }));
        if (kept) return kept;
        throw error;
      }
    })(),
  );
});
