// `npm start` is the server, `npm start -- --port 4871` too; `npm start -- run "…"` is any command of the program.
const [, , first] = process.argv
const isOfServe = first === undefined || (first.startsWith('-') && !['--help', '-h', '--version', '-V'].includes(first))
if (isOfServe) process.argv.splice(2, 0, 'serve')
await import('../packages/holdfast/bin/holdfast.mjs')
