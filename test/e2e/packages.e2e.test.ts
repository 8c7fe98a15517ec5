import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pack } from '../../scripts/pack.ts'

const run = promisify(execFile)

const readme = readFileSync(resolve(import.meta.dirname, '../../packages/holdfast/README.md'), 'utf8')
const [, example = ''] = /```ts\n(.*?)```/s.exec(readme) ?? []

describe('the packed tarballs, installed in a program that uses Zod 3', () => {
  let folder = ''
  const testkitIn = (place: string) => join(folder, place, 'node_modules/@holdfast/testkit')
  const env = () => ({
    ...process.env,
    HOLDFAST_HOME: join(folder, 'home'),
    DEMO_PACE: '0',
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
  })
  const inApp = () => ({ cwd: join(folder, 'app'), env: env() })
  const node = (...args: string[]) => run(process.execPath, args, inApp())
  const evaluate = (script: string) => node('--input-type=module', '-e', script)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-pack-'))
    const packed = await pack(join(folder, 'tarballs'))
    await mkdir(join(folder, 'app'))
    await writeFile(join(folder, 'app/package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
    const install = (...names: string[]) =>
      run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...names], inApp())
    // As in many programs: another version of a library that Holdfast needs, installed before it.
    await install('zod@3')
    await install(...packed)
    // Only the last test has it: a second install would take as long as all tests together.
    await mkdir(dirname(testkitIn('aside')), { recursive: true })
    await rename(testkitIn('app'), testkitIn('aside'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('contain built JavaScript and types, and no TypeScript source', async () => {
    const files = await readdir(join(folder, 'app/node_modules/holdfast'), { recursive: true })
    const ours = files.filter((file) => !file.includes('node_modules'))
    expect(ours.some((file) => file.endsWith('open.js'))).toBe(true)
    expect(ours.some((file) => file.endsWith('open.d.ts'))).toBe(true)
    expect(ours.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([])
    expect(ours.filter((file) => file.includes('.test.'))).toEqual([])
  })

  it('name no internal package, neither in an import nor as a dependency', async () => {
    for (const name of ['holdfast', '@holdfast/client', 'aside']) {
      const place = name === 'aside' ? testkitIn('aside') : join(folder, 'app/node_modules', name)
      const { dependencies, bundleDependencies } = JSON.parse(await readFile(join(place, 'package.json'), 'utf8'))
      expect(Object.keys(dependencies).filter((one) => one.startsWith('@holdfast/'))).toEqual([])
      expect(bundleDependencies).toBeUndefined()
      const files = (await readdir(place, { recursive: true })).filter((file) =>
        /^(dist|internal).*\.(js|ts)$/.test(file),
      )
      const naming = files.filter((file) =>
        /['"]@holdfast\/(protocol|core|client)\b/.test(readFileSync(join(place, file), 'utf8')),
      )
      expect(naming).toEqual([])
    }
  })

  it('contain each thread of the store as one file', async () => {
    for (const thread of ['reader', 'writer']) {
      const script = join(folder, `app/node_modules/holdfast/dist/store/sqlite/worker/${thread}-worker.cjs`)
      const imported = [...readFileSync(script, 'utf8').matchAll(/require\(["'](.*?)["']\)/g)]
      expect(imported.length).toBeGreaterThan(0)
      expect(imported.map(([, from]) => from).filter((from) => !from?.startsWith('node:'))).toEqual([])
    }
  })

  it('run the README’s example', async () => {
    await writeFile(join(folder, 'app/example.ts'), example)
    const { stdout } = await node('example.ts')
    expect(stdout).toContain('package.json')
  })

  it('compile in a strict program that checks the types of its libraries too', async () => {
    const program = `
      import { connectHoldfast } from '@holdfast/client'
      import { openHoldfast, type Turn } from 'holdfast'
      export { openSqliteStore } from 'holdfast/store'
      export const holdfast = await openHoldfast({ store: 'memory:' })
      export const turn: Turn = (await holdfast.startSession()).prompt('hello')
      export const far = connectHoldfast('http://127.0.0.1:4820')`
    const modules = resolve(import.meta.dirname, '../../node_modules')
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2024',
      lib: ['esnext'],
      strict: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(modules, '@types')],
    }
    await writeFile(join(folder, 'app/program.ts'), program)
    await writeFile(join(folder, 'app/tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
    const compiled = run(join(modules, '.bin/tsc'), ['-p', '.'], inApp()).catch(({ stdout }) => ({ stdout }))
    expect((await compiled).stdout).toBe('')
  })

  it('run examples', async () => {
    await cp(resolve(import.meta.dirname, '../../examples'), join(folder, 'app/examples'), { recursive: true })
    expect((await node('examples/approvals.ts')).stdout).toContain("[ 'hello.txt' ]")
    expect((await node('examples/own-store/main.ts')).stdout).toContain('turn.ended')
  })

  it('contain the command line, which lists the session of the example', async () => {
    const holdfast = join(folder, 'app/node_modules/.bin/holdfast')
    expect((await node(holdfast, '--version')).stdout.trim()).toMatch(/^\d+\.\d+\.\d+/)
    const { sessions } = JSON.parse((await node(holdfast, 'ls', '--json')).stdout)
    expect(sessions.map(({ title }: { title: string }) => title)).toEqual(['What is in this folder?'])
  })

  it('contain the model catalogue', async () => {
    const holdfast = join(folder, 'app/node_modules/.bin/holdfast')
    const { models } = JSON.parse((await node(holdfast, 'models', '--all', '--json')).stdout)
    expect(models).toContainEqual(
      expect.objectContaining({ model: 'anthropic/claude-sonnet-5-5', contextTokens: 1_000_000 }),
    )
  })

  it('work without the optional peers, which are not installed', async () => {
    const installed = await readdir(join(folder, 'app/node_modules'), { recursive: true })
    expect(installed.filter((file) => /(@holdfast\/testkit|@opentelemetry\/api)$/.test(file))).toEqual([])
    const manifest = JSON.parse(await readFile(join(folder, 'app/node_modules/holdfast/package.json'), 'utf8'))
    const optional = { optional: true }
    expect(manifest.peerDependenciesMeta).toEqual({ '@holdfast/testkit': optional, '@opentelemetry/api': optional })
  })

  it('export the client and the stores by their subpaths', async () => {
    const script = `
      const client = await import('holdfast/client'), store = await import('holdfast/store')
      const alone = await import('@holdfast/client')
      console.log(typeof client.connectHoldfast, typeof store.openSqliteStore, typeof alone.connectHoldfast)`
    expect((await evaluate(script)).stdout.trim()).toBe('function function function')
  })

  it('recognize the errors of each other', async () => {
    const script = `
      const [whole, client] = await Promise.all([import('holdfast'), import('@holdfast/client')])
      const error = await client.connectHoldfast('http://127.0.0.1:9').list().catch((cause) => cause)
      const near = await whole.openHoldfast({ store: 'memory:' })
      const other = await near.getSession('calm-harbor-999999').catch((cause) => cause)
      await near.close()
      console.log(error.code, error instanceof whole.HoldfastError, error instanceof client.HoldfastError)
      console.log(other.code, other instanceof whole.HoldfastError, other instanceof client.HoldfastError)
      console.log(new Error('x') instanceof client.HoldfastError)`
    expect((await evaluate(script)).stdout).toBe('unreachable true true\nsession_not_found true true\nfalse\n')
  })

  it('export the testkit by its subpath once it is installed, and say how to install it until then', async () => {
    const script = `console.log(await import('holdfast/testkit').then((kit) => typeof kit.createScriptedModel, String))`
    expect((await evaluate(script)).stdout.trim()).toBe(
      'Error: holdfast/testkit needs the package @holdfast/testkit. Install it: npm install -D @holdfast/testkit',
    )
    await rename(testkitIn('aside'), testkitIn('app'))
    // The example has the Zod of Holdfast: Zod 3 makes no JSON Schema.
    await mkdir(join(folder, 'app/examples/node_modules'))
    await symlink(
      join(folder, 'app/node_modules/holdfast/node_modules/zod'),
      join(folder, 'app/examples/node_modules/zod'),
    )
    expect((await evaluate(script)).stdout.trim()).toBe('function')
    expect((await node('examples/own-tool.ts')).stdout).toContain('forecast returned')
  })
})
