import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Session } from '@holdfast/client'
import { call, createScriptedModel, say } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../../open.ts'

const programOf = (name: string): string => {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
  return join(manifest, '..', 'dist', 'index.js')
}
const everything = programOf('@modelcontextprotocol/server-everything')
const filesystem = programOf('@modelcontextprotocol/server-filesystem')
const started = (program: string, ...args: string[]) => ({ command: process.execPath, args: [program, ...args] })

let home = ''
let workdir = ''
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-mcp-session-')))
  workdir = join(home, 'work')
  await mkdir(join(home, 'config'), { recursive: true })
  await mkdir(workdir)
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function open(mcpServers: object, calls: readonly (readonly [string, object])[], plan = false) {
  await writeFile(join(home, 'config', 'mcp.json'), JSON.stringify({ mcpServers }))
  const model = createScriptedModel([
    calls.map(([name, args]) => call(name, { ...args })),
    [say('Done.')],
    [say('Again.')],
  ])
  const environment = { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off', PATH: process.env['PATH'] ?? '' }
  const holdfast = await openHoldfast({ store: 'memory:', environment, models: { 'own/model': model } })
  const session = await holdfast.startSession({ workdir, model: 'own/model' })
  if (plan) await session.enterPlan()
  return { holdfast, session, model, [Symbol.asyncDispose]: () => holdfast.close() }
}

/** Runs the turn, approves every call, and returns what was asked and what the calls returned. */
async function run(session: Session) {
  const asked: unknown[] = []
  const results: { readonly id: number; readonly status: string; readonly text: string }[] = []
  for await (const item of session.prompt('go')) {
    if (item.type === 'approval') {
      asked.push(item.approval.preview)
      await session.respondToApproval('approve', item.approval.id)
    }
    if (item.type !== 'tool_result') continue
    const { id, status, result } = item.call
    results.push({ id, status, text: result?.text ?? '' })
  }
  return { asked, results: results.sort((one, other) => one.id - other.id) } // they run at once
}

describe('a session with servers', () => {
  it('tells the model of one that nobody has asked yet, which then lists its tools and calls one', async () => {
    await using test = await open({ every: started(everything) }, [['mcp__every__list_tools', {}]])
    const { asked, results } = await run(test.session)
    const toolsOf = (request: number) =>
      (test.model.requests[request]?.tools ?? []).map(({ name }) => name).filter((name) => name.startsWith('mcp__'))
    expect(toolsOf(0)).toEqual(['mcp__every__list_tools'])
    expect(toolsOf(1)).toContain('mcp__every__echo')
    expect(toolsOf(1)).not.toContain('mcp__every__list_tools')
    expect([asked, results]).toMatchObject([[], [{ status: 'complete', text: expect.stringContaining('- echo: ') }]])
  })

  it('that may use only some tools of a server asks it by itself, and offers only those', async () => {
    await using test = await open({ every: started(everything) }, [])
    const session = await test.holdfast.startSession({
      workdir,
      model: 'own/model',
      tools: ['read_file', 'mcp__every__echo'],
    })
    await session.prompt('go').text()
    expect(test.model.requests[0]?.tools.map(({ name }) => name)).toEqual(['read_file', 'mcp__every__echo'])
  })

  it('asks about calls, runs them, and tells the model what the server returned', async () => {
    await using test = await open({ every: started(everything) }, [
      ['mcp__every__echo', { message: 'hello' }],
      ['mcp__every__get-sum', { a: 2, b: 3 }],
      ['mcp__every__get-sum', { a: 'two' }],
      ['mcp__every__get-tiny-image', {}],
      ['mcp__every__trigger-long-running-operation', { duration: 0.2, steps: 2 }],
    ])
    const { asked, results } = await run(test.session)
    expect(asked).toHaveLength(5)
    expect(asked[0]).toEqual({ type: 'arguments', args: { message: 'hello' } })
    expect(results.map(({ status }) => status)).toEqual(['complete', 'complete', 'error', 'complete', 'complete'])
    expect(results[0]?.text).toBe('Echo: hello')
    expect(results[1]?.text).toMatch(/is 5/)
    const sent = test.model.requests.at(-1)?.tools.find(({ name }) => name === 'mcp__every__echo')
    expect(sent).toMatchObject({ input: { type: 'object', required: ['message'] } })
  })

  it('tells only the names of very many tools, and describes those that the model asks about', async () => {
    const fixture = join(import.meta.dirname, 'hostile-server.fixture.ts')
    await using test = await open({ many: started(fixture, 'huge') }, [
      ['describe_tools', { names: ['mcp__many__tool-1-7'] }],
      ['describe_tools', { names: ['mcp__many__tool-1-7x'] }],
    ])
    await test.session.retryServer('many')
    const { results } = await run(test.session)
    const sent = test.model.requests[0]?.tools.filter(({ name }) => name.startsWith('mcp__many__')) ?? []
    expect(sent.length).toBeGreaterThan(200)
    expect(sent.find(({ description }) => description.includes('xxx'))).toBeUndefined()
    expect(results).toMatchObject([
      { status: 'complete', text: expect.stringMatching(/^mcp__many__tool-1-7\(\)[\s\S]*xxx[\s\S]*JSON Schema: \{/) },
      { status: 'error', text: expect.stringContaining('mcp__many__tool-1-7') },
    ])
  })

  it('lets a server work on files', async () => {
    await using test = await open({ files: started(filesystem, workdir) }, [
      ['mcp__files__write_file', { path: join(workdir, 'a.txt'), content: 'written by a server\n' }],
      ['mcp__files__read_text_file', { path: join(workdir, 'b.txt') }],
      ['mcp__files__read_text_file', { path: '/etc/hostname' }],
    ])
    await writeFile(join(workdir, 'b.txt'), 'written by a person\n')
    const { results } = await run(test.session)
    expect(results.map(({ status }) => status)).toEqual(['complete', 'complete', 'error'])
    expect(await readFile(join(workdir, 'a.txt'), 'utf8')).toBe('written by a server\n')
    expect(results[1]?.text).toContain('written by a person')
  })

  it('fails a call of a server that changed lines outside an edit boundary, with the diff', async () => {
    await writeFile(join(workdir, 'a.txt'), 'one\ntwo\n')
    await using test = await open({ files: started(filesystem, workdir) }, [
      ['mcp__files__write_file', { path: join(workdir, 'a.txt'), content: 'ONE\ntwo\n' }],
    ])
    await test.session.setBoundary('a.txt', 1, 1)
    const { results } = await run(test.session)
    expect(results).toMatchObject([{ status: 'error', text: expect.stringContaining('-one\n+ONE\n') }])
    expect(await Array.fromAsync(test.session.fileChanges())).toMatchObject([{ path: 'a.txt', outside: true }])
  })

  it('refuses the tools of servers in plan mode, unless the server says that they only read', async () => {
    await using test = await open(
      { files: started(filesystem, workdir) },
      [
        ['mcp__files__write_file', { path: join(workdir, 'a.txt'), content: '' }],
        ['mcp__files__list_directory', { path: workdir }],
      ],
      true,
    )
    const { results } = await run(test.session)
    expect(results.map(({ status }) => status)).toEqual(['denied', 'complete'])
  })

  it('uses a server of the workspace only once a person trusts it', async () => {
    await writeFile(join(workdir, '.mcp.json'), JSON.stringify({ mcpServers: { theirs: started(everything) } }))
    await using test = await open({}, [['mcp__theirs__echo', { message: 'hi' }]])
    const before = await run(test.session)
    expect(before.results).toMatchObject([{ status: 'error', text: expect.stringMatching(/does not exist/) }])
    expect(test.model.requests[0]?.tools.some(({ name }) => name.startsWith('mcp__'))).toBe(false)
    const { offers } = await test.holdfast.workspaceOffers(workdir)
    expect(offers).toMatchObject([{ kind: 'server', name: 'theirs', verdict: 'new', path: '.mcp.json' }])
    await test.holdfast.trustOffers({
      workdir,
      offers: offers.map(({ kind, name, hash }) => ({ kind, name, hash })),
    })
    await test.session.prompt('again').text()
    expect(test.model.requests.at(-1)?.tools.some(({ name }) => name === 'mcp__theirs__list_tools')).toBe(true)
  })
})
