import { existsSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type MessagePort, Worker } from 'node:worker_threads'

type ThreadOptions = {
  readonly workerData?: unknown
  /** The memory that the thread may use. With more it ends with an error, see `isOutOfMemory`. */
  readonly heapMb?: number | undefined
  /** The part of it for new values. A larger one is collected less often. */
  readonly youngMb?: number | undefined
  readonly transferList?: readonly MessagePort[] | undefined
}

/**
 * Starts a worker thread. It does not inherit the flags of Node, because one like --input-type would prevent it from
 * loading its script. Files that it leaves open stay open, because closing one would drop the locks of this process on it.
 */
export const startThread = (
  script: URL,
  { workerData, heapMb, youngMb, transferList = [] }: ThreadOptions = {},
): Worker =>
  new Worker(script, {
    workerData,
    execArgv: [],
    trackUnmanagedFds: false,
    transferList: [...transferList],
    env: createEnvironment(),
    resourceLimits: {
      ...(heapMb !== undefined && { maxOldGenerationSizeMb: heapMb }),
      ...(youngMb !== undefined && { maxYoungGenerationSizeMb: youngMb }),
    },
  })

/** Returns the script `name` in the folder of `module`: TypeScript in the repo, JavaScript once built. */
export const findScript = (name: string, module: string): URL =>
  module.endsWith('.ts') ? findInRepo(new URL(`${name}.ts`, module)) : new URL(`${name}.js`, module)

/** The same for a script that is packed with its modules as one CommonJS file, which loads faster: see `scripts/pack.ts`. */
export const findBundle = (name: string, module: string): URL =>
  module.endsWith('.ts') ? findInRepo(new URL(`${name}.ts`, module)) : new URL(`${name}.cjs`, module)

/** Returns what the tests of the repo have built of a script, see `test/test-build.ts`; otherwise the script. */
function findInRepo(script: URL): URL {
  const folder = process.env['HOLDFAST_TEST_BUILD']
  const [, path] = script.href.split('/packages/holdfast/src/')
  if (!folder || path === undefined) return script
  const built = join(folder, path.replace(/\.ts$/, '.mjs'))
  return existsSync(built) ? pathToFileURL(built) : script
}

/** Returns whether a thread ended because it needed more memory than its `heapMb`. */
export const isOutOfMemory = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY'

/** A thread does not share the cache of compiled modules that this one turned on, unless its environment names it. */
function createEnvironment(): NodeJS.ProcessEnv {
  const cache = getCompileCacheDir()
  // Node stores a version's files in a folder below the one it is given.
  const directory = cache === undefined ? sourceCache : dirname(cache)
  return directory === null ? process.env : { ...process.env, NODE_COMPILE_CACHE: directory }
}

/** Where threads in the repo cache their modules: to strip the types of all of them takes most of a thread's start. */
const sourceCache = import.meta.url.endsWith('.ts')
  ? fileURLToPath(new URL('../../../../node_modules/.cache/holdfast', import.meta.url))
  : null
