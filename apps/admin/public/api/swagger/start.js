/* global SwaggerUIBundle */
// Relative to the page, so that it holds behind any proxy; no validator, which would be asked over the network.
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  displayRequestDuration: true,
});
