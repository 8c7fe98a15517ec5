import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pack } from '../../scripts/pack.ts'

const run = promisify(execFile)

const example = `
import { openHoldfast } from 'holdfast'

await using holdfast = await openHoldfast()
const session = await holdfast.startSession({ workdir: '.', model: 'demo/agent' })
await session.sendPrompt('list')
for await (const frame of session.subscribe({ after: 0 })) {
  if (frame.type === 'delta') process.stdout.write(frame.text)
  if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
}
`

describe('the packed tarballs, installed in an empty folder', () => {
  let folder = ''
  const env = () => ({
    ...process.env,
    HOLDFAST_HOME: join(folder, 'home'),
    DEMO_PACE: '0',
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
  })
  const node = (...args: string[]) => run(process.execPath, args, { cwd: join(folder, 'app'), env: env() })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-pack-'))
    const tarballs = await pack(join(folder, 'tarballs'))
    await mkdir(join(folder, 'app'))
    await writeFile(join(folder, 'app/package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...tarballs], {
      cwd: join(folder, 'app'),
      env: env(),
    })
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('hold built JavaScript and types, and no TypeScript source', async () => {
    const files = await readdir(join(folder, 'app/node_modules/holdfast'), { recursive: true })
    const ours = files.filter((file) => !file.includes('node_modules') || file.includes('@holdfast'))
    expect(ours.some((file) => file.endsWith('open.js'))).toBe(true)
    expect(ours.some((file) => file.endsWith('open.d.ts'))).toBe(true)
    expect(ours.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([])
    expect(ours.filter((file) => file.includes('.test.'))).toEqual([])
  })

  it('run the README’s example', async () => {
    await writeFile(join(folder, 'app/example.js'), example)
    const { stdout } = await node('example.js')
    expect(stdout).toContain('package.json')
  })

  it('bring the command line, which finds what the example left', async () => {
    const holdfast = join(folder, 'app/node_modules/.bin/holdfast')
    expect((await node(holdfast, '--version')).stdout.trim()).toMatch(/^\d+\.\d+\.\d+/)
    const { sessions } = JSON.parse((await node(holdfast, 'ls', '--json')).stdout)
    expect(sessions.map(({ title }: { title: string }) => title)).toEqual(['list'])
  })

  it('bring what is known of models', async () => {
    const holdfast = join(folder, 'app/node_modules/.bin/holdfast')
    const { models } = JSON.parse((await node(holdfast, 'models', '--all', '--json')).stdout)
    expect(models).toContainEqual(
      expect.objectContaining({ model: 'anthropic/claude-sonnet-5-5', contextTokens: 1_000_000 }),
    )
  })

  it('offer the client, the stores and the testkit by their subpaths', async () => {
    const script = `
      const client = await import('holdfast/client'), store = await import('holdfast/store'), kit = await import('holdfast/testkit')
      const alone = await import('@holdfast/client')
      console.log(typeof client.connectHoldfast, typeof store.openSqliteStore, typeof kit.createScriptedModel, typeof alone.connectHoldfast)`
    expect((await node('--input-type=module', '-e', script)).stdout.trim()).toBe('function function function function')
  })
})
