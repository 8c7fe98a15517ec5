import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

let cli: Cli
let directory = ''
let store: readonly string[]
beforeEach(() => {
  cli = createCli()
  directory = join(cli.workdir, 'logs')
  store = ['--store', `jsonl:${directory}`]
})
afterEach(() => cli[Symbol.dispose]())

const jsonOf = (text: string) => JSON.parse(text)
const listed = async (...more: readonly string[]) =>
  jsonOf((await cli.runProcess(['ls', '--json', ...more])).stdout).sessions.map(({ title }: { title: string }) => title)

describe('a store of plain files', () => {
  it('is read beside its server, after kill -9, and by the next server', async () => {
    const server = cli.start(['serve', '--port', '0', '--no-page', ...store])
    await server.until('stdout', /http/)
    // Writing commands go through the server, which has the lock; reading ones read the files.
    expect((await cli.runProcess(['run', 'hello there', ...store])).code).toBe(0)
    expect(await listed(...store)).toEqual(['hello there'])
    expect(await listed()).toEqual(['hello there'])
    expect((await cli.runProcess(['show', '@latest', ...store])).stdout).toContain('hello there')
    server.kill('SIGKILL')
    await server.ended

    expect(await listed(...store)).toEqual(['hello there'])
    expect((await cli.runProcess(['export', '@latest', ...store])).stdout).toContain('hello there')
    const again = cli.start(['serve', '--port', '0', '--no-page', ...store])
    await again.until('stdout', /http/)
    expect((await cli.runProcess(['run', '-s', '@latest', 'and again', ...store])).code).toBe(0)
    expect((await cli.runProcess(['show', '@latest', ...store])).stdout).toContain('and again')
    again.kill('SIGTERM')
    await again.ended
    expect(existsSync(join(cli.home, 'data', 'holdfast.db'))).toBe(false)
  })

  it('refuses a writer from another home and names the process that has it open', async () => {
    const server = cli.start(['serve', '--port', '0', '--no-page', ...store])
    await server.until('stdout', /http/)
    const environment = { HOLDFAST_HOME: join(cli.workdir, 'other') }
    const refused = await cli.runProcess(['run', 'hello', '--json', ...store], { environment })
    expect(refused.code).toBe(1)
    expect(jsonOf(refused.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      error: { code: 'session_locked', details: { pid: server.pid, since: expect.any(String) } },
    })
  })

  it('is the default store if HOLDFAST_STORE names it', async () => {
    const environment = { HOLDFAST_STORE: `jsonl:${directory}` }
    expect((await cli.runProcess(['run', 'by the environment'], { environment })).code).toBe(0)
    expect(await listed(...store)).toEqual(['by the environment'])
    expect(await listed()).toEqual([])
  })
})

describe('a whole store', () => {
  it('can be migrated, backed up, checked and counted', async () => {
    expect((await cli.runProcess(['run', 'hello there'])).code).toBe(0)
    const migrated = await cli.runProcess(['migrate', '--to', `jsonl:${directory}`, '--json'])
    expect(jsonOf(migrated.stdout)).toMatchObject({ copied: 1, refused: [] })
    expect((await cli.runProcess(['show', '@latest', ...store])).stdout).toBe(
      (await cli.runProcess(['show', '@latest'])).stdout,
    )
    expect((await cli.runProcess(['migrate', '--to', 'memory:'])).stderr).toContain('nothing is saved there')

    expect((await cli.runProcess(['backup', 'saved.db'])).code).toBe(0)
    expect(readdirSync(cli.workdir).toSorted()).toEqual(['logs', 'saved.db', 'saved.db.blobs'])
    expect(await listed('--store', 'sqlite:saved.db')).toEqual(['hello there'])
    expect((await cli.runProcess(['backup', 'saved.db'])).stderr).toContain('already exists')

    for (const place of [[], store, ['--store', 'sqlite:saved.db']])
      expect(await cli.runProcess(['doctor', ...place])).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('is intact'),
      })
    expect((await cli.runProcess(['doctor', '--store', 'memory:'])).code).toBe(1)
    const stats = await cli.runProcess(['stats', '--json', ...store])
    expect(jsonOf(stats.stdout)).toMatchObject({ sessions: { listed: 1 }, total: { turns: 1 } })
    expect((await cli.runProcess(['stats'])).stdout).toContain('demo/agent')
  })
})
