import { execFile } from 'node:child_process'
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, posix, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'rolldown'
import { type PublishedPackage, published, withoutInternal } from './published.ts'

/**
 * Makes the tarballs people install: built JavaScript and types, because Node strips no types under node_modules.
 * The internal packages are copied into the published ones, so that there are three names to install and not six. They are
 * no bundleDependencies: npm then misplaces the other dependencies where a program has another version of one, such as Zod 3.
 * Each common thread is one file.
 */
const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..')
const stage = join(root, 'build/stage')

type Manifest = {
  name: string
  version: string
  private?: boolean
  exports?: Record<string, string>
  dependencies?: Record<string, string>
  [field: string]: unknown
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, 'packages', folder, 'package.json'), 'utf8'))
}

/** Returns the exports of a tarball, which name built files where those of the repo name sources. */
function builtExports(exports: Record<string, string> = {}): Record<string, object> {
  const built = (source: string, ending: string) => source.replace('./src/', './dist/').replace(/\.ts$/, ending)
  return Object.fromEntries(
    Object.entries(exports).map(([name, source]) => [
      name,
      { types: built(source, '.d.ts'), default: built(source, '.js') },
    ]),
  )
}

async function stagePublished({ folder, bundled }: PublishedPackage): Promise<string> {
  const into = join(stage, folder)
  const { devDependencies: _, scripts: __, ...manifest } = await manifestOf(folder)
  const dependencies: Record<string, string> = { ...manifest.dependencies }
  const copied = new Map<string, string>()
  await cp(join(root, 'build/out', folder, 'src'), join(into, 'dist'), { recursive: true })
  for (const name of bundled) {
    const inner = await manifestOf(name)
    await cp(join(root, 'build/out', name, 'src'), join(into, 'internal', name), { recursive: true })
    Object.assign(dependencies, inner.dependencies)
    for (const [path, source] of Object.entries(inner.exports ?? {}))
      copied.set(posix.join(inner.name, path), source.replace('./src/', `internal/${name}/`).replace(/\.ts$/, '.js'))
  }
  for (const name of bundled) delete dependencies[`@holdfast/${name}`]
  await importCopies(into, copied)
  const files = ['dist', 'internal', 'bin', 'man', 'README.md', 'LICENSE']
  const exports = withoutInternal(builtExports(manifest.exports))
  const whole = { ...manifest, exports, dependencies, files }
  await writeFile(join(into, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`)
  await cp(join(root, 'LICENSE'), join(into, 'LICENSE'))
  await cp(join(root, 'packages', folder, 'README.md'), join(into, 'README.md'))
  if (folder === 'holdfast') {
    for (const part of ['bin', 'man'])
      await cp(join(root, 'packages/holdfast', part), join(into, part), { recursive: true })
    await cp(join(root, 'packages/web/dist'), join(into, 'dist/page'), { recursive: true })
    await bundleThreads(into)
  }
  return into
}

/** Makes the built files import the copies of the internal packages. `copied` has a file for each name that they import. */
async function importCopies(into: string, copied: ReadonlyMap<string, string>): Promise<void> {
  for await (const file of glob('{dist,internal}/**/*.{js,d.ts}', { cwd: into })) {
    const built = await readFile(join(into, file), 'utf8')
    const changed = built.replace(/(['"])(@holdfast\/[\w/-]+)\1/g, (whole, quote, name) => {
      const copy = copied.get(name)
      if (copy === undefined) return whole
      const path = relative(dirname(file), copy).replaceAll('\\', '/')
      return `${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
    })
    if (changed !== built) await writeFile(join(into, file), changed)
  }
}

/** The threads that an ordinary program starts, see `findBundle`. */
const threads = [
  'store/sqlite/worker/reader-worker',
  'store/sqlite/worker/writer-worker',
  'context/requests/request-worker',
  'transfer/import/thread/import-worker',
]

/** Makes one file of each thread's modules: to find and load them one by one takes as long as the thread's start. */
async function bundleThreads(into: string): Promise<void> {
  for (const thread of threads) {
    const script = join(into, 'dist', thread)
    await build({
      input: `${script}.js`,
      cwd: into,
      platform: 'node',
      logLevel: 'warn',
      external: /^[^./]/, // libraries stay dependencies
      output: { file: `${script}.cjs`, format: 'cjs', codeSplitting: false },
    })
    await rm(`${script}.js`)
  }
}

/** Builds the packages; returns their directories, which are ready to be packed. */
export async function stagePackages(): Promise<readonly string[]> {
  await rm(join(root, 'build'), { recursive: true, force: true })
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
    cwd: root,
  })
  const staged: string[] = []
  for (const one of published) staged.push(await stagePublished(one))
  return staged
}

/** Builds and packs; returns the tarballs' paths. */
export async function pack(destination: string): Promise<readonly string[]> {
  const staged = await stagePackages()
  await mkdir(destination, { recursive: true })
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', destination, ...staged], { cwd: root })
  const packed = JSON.parse(stdout) as readonly { readonly filename: string }[]
  return packed.map(({ filename }) => join(destination, filename))
}

if (process.argv[1] === import.meta.filename) {
  const destination = resolve(process.argv[2] ?? join(root, 'build/tarballs'))
  for (const tarball of await pack(destination)) process.stdout.write(`${tarball}\n`)
}
