// The last: what the address asks for, now and whenever it is changed.

byId('no-module').hidden = !data.no_module;
byId('no-module').textContent = `Race, Solve and Draw do not work in this page: ${data.no_module}.`;
addEventListener('hashchange', followLink);
followLink();
