import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// Built into the Python package, which serves it; nothing is fetched from elsewhere at run time.
export default defineConfig({
  plugins: [react()],
  base: "/",
  build: {
    outDir: "../src/anew/surfaces/web/built",
    emptyOutDir: true,
    target: "es2023",
    sourcemap: false,
    // The content security policy has no `data:` for scripts, styles and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: {
    host: "127.0.0.1",
    // The server takes changes only from a page of its own address.
    proxy: { "/api": { target: "http://127.0.0.1:8700", changeOrigin: false } },
  },
  test: {
    restoreMocks: true,
    // By itself it leaves one core to others, which on two is half of them.
    maxWorkers: 2,
    // A busy machine is not a failure.
    testTimeout: 60_000,
    projects: [
      { extends: true, test: { name: "plain", include: ["test/**/*.test.ts"] } },
      {
        // A document to render into, which takes longer to make than most tests to run.
        extends: true,
        test: {
          name: "rendered",
          include: ["test/**/*.test.tsx"],
          environment: "jsdom",
          setupFiles: ["test/setup.ts"],
        },
      },
    ],
  },
});
