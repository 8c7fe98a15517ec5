#!/usr/bin/env node
// Plain JavaScript that an old Node can read too: it must be able to say that it is too old.
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const major = Number(process.versions.node.split('.')[0])
if (major < 24) {
  process.stderr.write(
    `Holdfast needs Node 24 or later; this is Node ${process.versions.node}. Install a newer one (https://nodejs.org), or run it in its clone with npm start or npx holdfast.\n`,
  )
  process.exit(1)
}

await keepCompiled()
const source = new URL('../src/cli/main.ts', import.meta.url)
await import(existsSync(fileURLToPath(source)) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href)

/** A cache of compiled modules halves the start. Where it cannot be kept, Holdfast starts without it. */
async function keepCompiled() {
  const { NODE_COMPILE_CACHE, XDG_CACHE_HOME, HOME } = process.env
  if (NODE_COMPILE_CACHE) return // Node keeps one there already
  try {
    const { enableCompileCache } = await import('node:module')
    const base = XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(HOME || homedir(), '.cache')
    // Not below HOLDFAST_HOME: a command that only looks must leave nothing there.
    const compiled = join(base, 'holdfast', 'compiled')
    for (const directory of [base, dirname(compiled), compiled]) makeDirectory(directory)
    enableCompileCache(compiled)
  } catch {
    // a user without a home directory, or with one that takes no files
  }
}

/** One step at a time, as Node would not: its recursive mkdir never ends on a place like /proc. */
function makeDirectory(path) {
  if (!existsSync(path)) mkdirSync(path, { mode: 0o700 })
}
