#!/usr/bin/env node
// Plain JavaScript that an old Node can run too, so that it can report its version as too old.
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'

const major = Number(process.versions.node.split('.')[0])
if (major < 24) {
  process.stderr.write(
    `Holdfast needs Node 24 or later, but this is Node ${process.versions.node}. Install a newer Node (https://nodejs.org), or run npm start or npx holdfast in the clone, which has its own.\n`,
  )
  process.exit(1)
}

// See src/system/heap-growth.ts, which takes this back.
setFlagsFromString('--semi-space-growth-factor=1')
await cacheCompiledModules()
await import(findMain().href)

/** Returns the built program once it is installed. In the repo it is the source, or what the tests have built of it. */
function findMain() {
  const source = new URL('../src/cli/main.ts', import.meta.url)
  if (!existsSync(fileURLToPath(source))) return new URL('../dist/cli/main.js', import.meta.url)
  const { HOLDFAST_TEST_BUILD } = process.env
  return HOLDFAST_TEST_BUILD ? pathToFileURL(join(HOLDFAST_TEST_BUILD, 'cli/main.mjs')) : source
}

/** Turns on Node's cache of compiled modules, which halves the start. Without a writable directory there is none. */
async function cacheCompiledModules() {
  const { NODE_COMPILE_CACHE, XDG_CACHE_HOME, HOME } = process.env
  if (NODE_COMPILE_CACHE) return // Node already uses this one
  try {
    const { enableCompileCache } = await import('node:module')
    const base = XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(HOME || homedir(), '.cache')
    // Not below HOLDFAST_HOME, where a command that only reads must create nothing.
    const compiled = join(base, 'holdfast', 'compiled')
    for (const directory of [base, dirname(compiled), compiled]) makeDirectory(directory)
    enableCompileCache(compiled)
  } catch {
    // no home directory, or a read-only one
  }
}

/** Creates one directory. Node's recursive mkdir would never return below /proc. */
function makeDirectory(path) {
  if (!existsSync(path)) mkdirSync(path, { mode: 0o700 })
}
