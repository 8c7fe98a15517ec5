import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'

const root = resolve(import.meta.dirname, '..')
const source = join(root, 'packages/holdfast/src')
/** Inside the package, so that the build finds the same libraries as the source. */
const cache = join(root, 'packages/holdfast/node_modules/.cache/test-build')

const threads = [
  'admin/jobs/job-worker',
  'context/requests/request-worker',
  'store/sqlite/worker/reader-worker',
  'store/sqlite/worker/writer-worker',
  'tools/fetch/html-worker',
  'tools/files/change/change-worker',
  'transfer/export/export-worker',
  'transfer/import/thread/import-worker',
]

type BuiltFile = { readonly path: string; readonly code: string }

/** Keeps the address of each module, because modules find their files and threads by it. */
const ownAddresses: Plugin = {
  name: 'own addresses',
  transform: {
    filter: { code: 'import.meta.url' },
    handler: (code, id) => code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
  },
}

/**
 * Builds the highlighter too, which the terminal UI imports by a variable. Loaded as TypeScript it would bring Node's compiler
 * along, which takes a tenth of the memory of the program.
 */
const highlighter: Plugin = {
  name: 'highlighter',
  transform: {
    filter: { code: 'import(highlightModule)' },
    handler: (code) => code.replaceAll('import(highlightModule)', "import('@holdfast/client/highlight')"),
  },
}

async function buildFiles(script: string, codeSplitting: boolean): Promise<readonly BuiltFile[]> {
  const bundle = await rolldown({
    input: join(source, `${script}.ts`),
    cwd: root,
    platform: 'node',
    logLevel: 'warn',
    plugins: [ownAddresses, highlighter],
    external: /^(?!@holdfast\/)[^./]/, // libraries stay where they are
  })
  const entryFileNames = '[name].mjs'
  const { output } = await bundle.generate({ format: 'esm', codeSplitting, entryFileNames })
  await bundle.close()
  return output.flatMap((file) =>
    file.type === 'chunk' ? [{ path: join(dirname(script), file.fileName), code: file.code }] : [],
  )
}

/**
 * Builds the program and its threads for the processes that tests start, and returns their folder. Tests start hundreds of
 * programs and thousands of threads, and most of each start would be to load some hundred modules one by one.
 *
 * `HOLDFAST_TEST_BUILD` names the folder: see `bin/holdfast.mjs` and `src/system/start-thread.ts`. Set it to nothing for a
 * process that shall run the source.
 */
export async function buildProgram(): Promise<string> {
  const built = await Promise.all([buildFiles('cli/main', true), ...threads.map((thread) => buildFiles(thread, false))])
  const files = built.flat()
  const hash = createHash('sha256')
  for (const { code } of files) hash.update(code)
  const folder = join(cache, hash.digest('hex').slice(0, 16))
  await mkdir(cache, { recursive: true })
  const made = await mkdtemp(join(cache, 'made-'))
  for (const { path, code } of files) {
    await mkdir(dirname(join(made, path)), { recursive: true })
    await writeFile(join(made, path), code)
  }
  // Another run may have made the same.
  await rename(made, folder).catch(() => rm(made, { recursive: true }))
  return folder
}
