// Builds the console from the sources in its package; this Vite needs Node.js 20.19 or later.
export default {
  define: {
    'process.env.AIUI_APP_VERSION': '"test"', 'process.env.AIUI_APP_CLUSTER_PERMISSIONS': 'undefined',
    'process.env.TRANSLATION_NAMESPACE': '"translation"', 'process.env.NODE_ENV': '"production"', global: 'globalThis',
  },
  resolve: { conditions: ['source', 'module', 'browser', 'default'], dedupe: ['react', 'react-dom', 'react-redux'] },
  build: { target: 'es2022', chunkSizeWarningLimit: 100000, minify: false },
};
