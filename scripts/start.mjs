// `npm start` and `npm start -- --port 4871` run the server; `npm start -- run "…"` runs any other command.
const [, , first] = process.argv
const isOfServe = first === undefined || (first.startsWith('-') && !['--help', '-h', '--version', '-V'].includes(first))
if (isOfServe) process.argv.splice(2, 0, 'serve')
await import('../packages/holdfast/bin/holdfast.mjs')
