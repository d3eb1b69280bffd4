import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  build: {
    outDir: "../src/salvo/web/static",
    emptyOutDir: true,
    target: "es2022",
    // These know light-dark(), which holds both themes of a colour in one place.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // A data: address would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/login"].map((path) => [path, { target: "http://127.0.0.1:8765", changeOrigin: true }]),
    ),
  },
  test: {
    // A simulated page takes long to set up, and each file gets its own. Tests of functions need none.
    projects: [
      {
        extends: true,
        test: { name: "functions", environment: "node", isolate: false, include: ["src/**/*.test.ts"] },
      },
      { extends: true, test: { name: "components", environment: "happy-dom", include: ["src/**/*.test.tsx"] } },
    ],
  },
});
