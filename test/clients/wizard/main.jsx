// The console of openshift-assisted as its application mounts it (assisted-installer-ui, apps/assisted-ui, App.tsx): all routes,
// the features of a deployment on premises, English.
import React from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router-dom-v5-compat';
import i18n from 'i18next';
import { initReactI18next } from 'react-i18next';
import translation from '@openshift-assisted/locales/en/translation.json';
import { UILibRoutes, Features } from '@openshift-assisted/ui-lib/ocm';
import '@patternfly/react-core/dist/styles/base.css';

await i18n.use(initReactI18next).init({
  lng: 'en', resources: { en: { translation } }, keySeparator: false, nsSeparator: false, interpolation: { escapeValue: false },
});
createRoot(document.getElementById('root')).render(
  <BrowserRouter><UILibRoutes allEnabledFeatures={Features.STANDALONE_DEPLOYMENT_ENABLED_FEATURES} /></BrowserRouter>,
);
