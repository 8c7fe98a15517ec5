// `npm start` is the server; `npm start -- run "…"` is any command of the program.
if (process.argv.length === 2) process.argv.push('serve')
await import('../packages/holdfast/bin/holdfast.mjs')
