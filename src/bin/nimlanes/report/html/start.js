// The last script: it does what the address asks for, now and whenever the address changes.

byId('no-module').hidden = !data.no_module;
byId('no-module').textContent = `Race, Solve and Draw do not work in this page: ${data.no_module}.`;
addEventListener('hashchange', followLink);
followLink();
