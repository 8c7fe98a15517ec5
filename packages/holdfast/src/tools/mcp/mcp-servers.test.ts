import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tool } from '@holdfast/core/ports'
import { createToolRun } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Offer } from '../../trust/offer.ts'
import { createKnownOffers } from './known-offers.ts'
import { createMcpServers, type McpServers } from './mcp-servers.ts'
import { createSignIns } from './sign-in/sign-ins.ts'

const fixture = new URL('./hostile-server.fixture.ts', import.meta.url).pathname
const never = new AbortController().signal
let home: string
let problems: unknown[]
let workdir: string
let servers: McpServers
let trusted: (offer: Offer) => boolean
const open: McpServers[] = []

const create = (idleMs?: number) => {
  const made = createMcpServers({
    userFile: join(home, 'mcp.json'),
    userDir: home,
    environment: process.env,
    records: null,
    idleMs,
    passed: { PATH: process.env['PATH'] ?? '' },
    findWorkspace: async () => workdir,
    areTrusted: async (_, offers) => offers.map(trusted),
    credentials: createSignIns(join(home, 'sign-in')),
    known: createKnownOffers(join(home, 'known'), ({ cause }) => problems.push(cause)),
  })
  open.push(made)
  return made
}
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'holdfast-mcp-'))
  workdir = join(home, 'work')
  await mkdir(workdir)
  trusted = () => false
  problems = []
  servers = create()
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
  await rm(home, { recursive: true })
})

const configure = (path: string, names: Readonly<Record<string, readonly string[]>>) =>
  writeFile(
    path,
    JSON.stringify({
      mcpServers: Object.fromEntries(
        Object.entries(names).map(([name, args]) => [name, { command: process.execPath, args: [fixture, ...args] }]),
      ),
    }),
  )
/** Asks servers that nobody has asked, and returns the tools of all. */
const toolsNow = async (from = servers): Promise<readonly Tool[]> => {
  const { servers: all } = await from.list(workdir)
  const tools = await from.tools(
    workdir,
    all.map(({ name }) => `mcp__${name}__any`),
  )
  return tools.filter(({ listedBy }) => listedBy !== undefined)
}
const toolOf = async (name: string, from = servers): Promise<Tool> => {
  const tool = (await toolsNow(from)).find(({ schema }) => schema.name === name)
  if (!tool) throw new Error(`no tool ${name}`)
  return tool
}
const call = async (tool: Tool, signal = never) => {
  const { run } = createToolRun({ signal })
  return tool.run({}, { workdir }, run)
}
const isAlive = (pid: number) => {
  const path = `/proc/${pid}/stat`
  return existsSync(path) && !/\) Z /.test(readFileSync(path, 'utf8'))
}

describe('servers', () => {
  it('give tools, with their description, which are asked about', async () => {
    await configure(join(home, 'mcp.json'), { test: ['plain'] })
    const hello = await toolOf('mcp__test__hello')
    expect(hello).toMatchObject({ isDestructive: true, isReadOnly: false, schema: { description: 'says hello' } })
    expect(await call(hello)).toMatchObject({ type: 'ok', output: { text: 'hello' } })
  })

  it('start only when they are needed: what they offer is remembered', async () => {
    const log = join(home, 'starts')
    await configure(join(home, 'mcp.json'), { test: ['plain', log] })
    await toolsNow()
    const starts = async () => (await readFile(log, 'utf8')).trim().split('\n').length
    expect(await starts()).toBe(1)
    const next = create()
    expect(await toolsNow(next)).toHaveLength(8)
    expect(await starts()).toBe(1)
    expect(await call(await toolOf('mcp__test__hello', next))).toMatchObject({ type: 'ok' })
    expect(await starts()).toBe(2)
  })

  it('that are not configured cost nothing', async () => {
    expect(await toolsNow()).toEqual([])
    expect(await servers.list(workdir)).toEqual({ servers: [], problems: [] })
  })

  it('of a workspace count only once they are trusted, and again after a change', async () => {
    await configure(join(workdir, '.mcp.json'), { theirs: ['plain'] })
    expect(await toolsNow()).toEqual([])
    expect((await servers.list(workdir)).servers).toMatchObject([{ name: 'theirs', state: 'untrusted', tools: null }])
    let granted = ''
    trusted = (offer) => {
      granted ||= offer.hash
      return offer.hash === granted
    }
    expect(await toolsNow()).toHaveLength(8)
    await configure(join(workdir, '.mcp.json'), { theirs: ['chatty'] })
    expect(await toolsNow()).toEqual([])
  })

  it('of a workspace do not count any more if a file that they run changes, or trust is taken back', async () => {
    const script = join(workdir, 'server.ts')
    await copyFile(fixture, script)
    const theirs = { command: process.execPath, args: ['server.ts', 'plain'] }
    await writeFile(join(workdir, '.mcp.json'), JSON.stringify({ mcpServers: { theirs } }))
    let granted = ''
    trusted = (offer) => {
      granted ||= offer.hash
      return offer.hash === granted
    }
    expect(await toolsNow()).toHaveLength(8)
    const text = await readFile(script, 'utf8')
    await writeFile(script, `${text}// changed`)
    expect(await toolsNow()).toEqual([])
    await writeFile(script, text)
    expect(await toolsNow()).toHaveLength(8)
    trusted = () => false
    expect(await toolsNow()).toEqual([])
    expect((await servers.list(workdir)).servers).toMatchObject([{ state: 'untrusted' }])
  })

  it('go on if what they offer cannot be written down, and that is reported', async () => {
    await configure(join(home, 'mcp.json'), { test: ['plain'] })
    await writeFile(join(home, 'known'), 'a file where the folder should be')
    expect(await toolsNow()).toHaveLength(8)
    await call(await toolOf('mcp__test__change')) // asks again in the background
    await expect.poll(() => problems.length).toBeGreaterThan(1)
    expect(await call(await toolOf('mcp__test__hello'))).toMatchObject({ type: 'ok' })
  })

  it('of a workspace do not replace those of the user', async () => {
    await configure(join(home, 'mcp.json'), { test: ['plain'] })
    await configure(join(workdir, '.mcp.json'), { test: ['broken'] })
    trusted = () => true
    expect(await toolsNow()).toHaveLength(8)
    expect((await servers.list(workdir)).problems.join()).toMatch(/does not count/)
  })

  it('that cannot start have no tools, and say why', async () => {
    await configure(join(home, 'mcp.json'), { test: ['broken'], good: ['chatty'] })
    expect(await toolsNow()).toHaveLength(8)
    const { servers: listed } = await servers.list(workdir)
    expect(listed).toMatchObject([{ state: 'failed', why: expect.stringMatching(/exit code 1: no configuration/) }, {}])
    expect(await servers.test(workdir, 'test', never)).toMatchObject({ fault: { code: 'mcp_failed' } })
    expect(await servers.test(workdir, 'good', never)).toMatchObject({ ok: true, value: { state: 'ready' } })
    expect(await servers.test(workdir, 'none', never)).toMatchObject({ fault: { code: 'not_found' } })
  })

  it('that die fail the call and start again for the next one', async () => {
    await configure(join(home, 'mcp.json'), { test: ['plain'] })
    expect(await call(await toolOf('mcp__test__die'))).toMatchObject({
      type: 'failed',
      output: { text: expect.stringMatching(/exit code 3: out of luck/) },
    })
    expect(await call(await toolOf('mcp__test__hello'))).toMatchObject({ type: 'ok' })
  })

  it('that hang are left when the call is stopped', async () => {
    const log = join(home, 'starts')
    await configure(join(home, 'mcp.json'), { test: ['plain', log] })
    const stop = new AbortController()
    const calling = call(await toolOf('mcp__test__hang'), stop.signal)
    await expect.poll(() => readFile(log, 'utf8')).toMatch(/hanging/)
    stop.abort()
    expect(await calling).toMatchObject({ type: 'failed' })
    expect(await call(await toolOf('mcp__test__hello'))).toMatchObject({ type: 'ok' })
  })

  it('that send what would hold up all sessions are cut off', async () => {
    await configure(join(home, 'mcp.json'), { test: ['plain'] })
    expect(await call(await toolOf('mcp__test__deep'))).toMatchObject({
      type: 'failed',
      output: { text: expect.stringMatching(/nested deeper than/) },
    })
    expect(await call(await toolOf('mcp__test__flood'))).toMatchObject({
      type: 'failed',
      output: { text: expect.stringMatching(/message of more than 4194304 bytes/) },
    })
  })

  it('end with their children when they are closed', async () => {
    await configure(join(home, 'mcp.json'), { test: ['plain'] })
    const { output } = await call(await toolOf('mcp__test__child'))
    expect(isAlive(Number(output.text))).toBe(true)
    await servers.close()
    await expect.poll(() => isAlive(Number(output.text))).toBe(false)
  })

  it('stop when nobody has used them for a while', async () => {
    servers = create(1)
    await configure(join(home, 'mcp.json'), { test: ['plain'] })
    await toolsNow()
    await expect.poll(async () => (await servers.list(workdir)).servers[0]?.state).toBe('stopped')
    expect(await call(await toolOf('mcp__test__hello'))).toMatchObject({ type: 'ok' })
  })

  it('are started once for all sessions that need them at the same time', async () => {
    const log = join(home, 'starts')
    await configure(join(home, 'mcp.json'), { test: ['plain', log] })
    await Promise.all(Array.from({ length: 4 }, () => toolsNow()))
    expect((await readFile(log, 'utf8')).trim().split('\n')).toHaveLength(1)
  })

  it('of the user are started outside of the workspace, and told where it is', async () => {
    await configure(join(home, 'mcp.json'), { test: ['plain', '', `\${WORKSPACE}`] })
    const { output } = await call(await toolOf('mcp__test__where'))
    expect(JSON.parse(output.text)).toEqual({ cwd: home, args: ['plain', '', workdir] })
  })

  it('ask each time about what decides what other programs run', async () => {
    await configure(join(home, 'mcp.json'), { test: ['plain'] })
    const hello = await toolOf('mcp__test__hello')
    const reason = async (args: object) => {
      const prepared = await hello.prepare({ ...args }, { workdir }, never)
      return prepared.type === 'ready' ? prepared.alwaysAsk : null
    }
    expect(await reason({ path: `${workdir}/.git/config` })).toMatch(/decides what other programs run/)
    expect(await reason({ edits: [{ file: '.npmrc' }] })).toMatch(/decides what other programs run/)
    expect(await reason({ path: 'a.txt', text: 'about .git and others' })).toBeUndefined()
  })

  it.each(['changing', 'vanishing'])('that describe a tool otherwise are asked about again (%s)', async (behaviour) => {
    await configure(join(home, 'mcp.json'), { test: [behaviour] })
    const isAskedAlways = async () => {
      const prepared = await (await toolOf('mcp__test__hello')).prepare({}, { workdir }, never)
      return prepared.type === 'ready' && prepared.alwaysAsk !== undefined
    }
    expect(await isAskedAlways()).toBe(false)
    await call(await toolOf('mcp__test__change'))
    if (behaviour === 'vanishing') {
      await expect.poll(async () => (await toolsNow()).length).toBe(1)
      await call(await toolOf('mcp__test__change'))
      await expect.poll(async () => (await toolsNow()).length).toBe(8)
    }
    await expect.poll(isAskedAlways).toBe(true)
    await call(await toolOf('mcp__test__hello'))
    expect(await isAskedAlways()).toBe(false)
  })
})

describe('a server that was never asked what it offers', () => {
  const starts = async (log: string) => (existsSync(log) ? (await readFile(log, 'utf8')).trim().split('\n').length : 0)
  const configured = async (...behaviour: readonly string[]) => {
    const log = join(home, 'starts')
    await configure(join(home, 'mcp.json'), { test: [behaviour[0] ?? 'plain', log] })
    return log
  }
  const onlyTool = async () => {
    const [tool, ...more] = await servers.tools(workdir)
    if (!tool || more.length > 0) throw new Error('there is not one tool')
    return tool
  }

  it('is not started, and gives one tool that lists the others', async () => {
    const log = await configured()
    const listing = await onlyTool()
    expect(listing).toMatchObject({ server: 'test', isReadOnly: true, schema: { name: 'mcp__test__list_tools' } })
    expect(await servers.prompts(workdir)).toEqual([])
    expect((await servers.list(workdir)).servers).toMatchObject([{ state: 'stopped', tools: null }])
    expect(await starts(log)).toBe(0)
    const result = await call(listing)
    expect(result).toMatchObject({ type: 'ok', output: { text: expect.stringContaining('has 8 tools') } })
    expect(result.output.text).toContain('Be kind.\n- hello: says hello')
    expect(await servers.tools(workdir)).toHaveLength(8)
    expect(await starts(log)).toBe(1)
  })

  it('is started for a call that names one of its tools, and for a prompt', async () => {
    const log = await configured()
    expect(await servers.tools(workdir, ['read_file', 'mcp__other__hello', 'mcp__test__list_tools'])).toHaveLength(1)
    expect(await starts(log)).toBe(0)
    expect(await servers.tools(workdir, ['mcp__test__hello'])).toHaveLength(8)
    await configure(join(home, 'mcp.json'), { second: ['plain', log] })
    await servers.prompts(workdir, ['mcp__second__start'])
    expect(await servers.tools(workdir)).toHaveLength(8)
    await configure(join(home, 'mcp.json'), { 'a third': ['plain', log] })
    expect(await servers.tools(workdir, ['mcp__a_third'])).toHaveLength(8) // as the file of an agent names it
    expect(await starts(log)).toBe(3)
  })

  it('that fails says why to the model, and can be tried again', async () => {
    await configured('broken')
    const failed = { type: 'failed', output: { text: expect.stringMatching(/exit code 1: no configuration/) } }
    expect(await call(await onlyTool())).toMatchObject(failed)
    expect(await call(await onlyTool())).toMatchObject(failed)
  })

  it('of the user is known in every workspace once it was asked in one', async () => {
    const log = await configured()
    await servers.test(workdir, 'test', never)
    const first = workdir
    workdir = join(home, 'other')
    await mkdir(workdir)
    expect(await create().tools(workdir)).toHaveLength(8)
    expect(await starts(log)).toBe(1)
    expect(first).not.toBe(workdir)
  })
})

describe('a known server', () => {
  it('gives the same tools while nothing has changed, and others after a change on disk', async () => {
    await configure(join(home, 'mcp.json'), { test: ['plain'] })
    await toolsNow()
    const before = await servers.tools(workdir)
    expect(await servers.tools(workdir)).toBe(before)
    await configure(join(home, 'mcp.json'), { test: ['plain'], more: ['plain'] })
    expect(await servers.tools(workdir)).toHaveLength(9)
    await writeFile(join(home, 'mcp.json'), '{"mcpServers": {}}')
    expect(await servers.tools(workdir)).toEqual([])
  })

  it('is asked again when it starts: a new version may offer something else', async () => {
    await configure(join(home, 'mcp.json'), { test: ['plain'] })
    await toolsNow()
    await servers.close()
    const file = join(home, 'known', String((await readdir(join(home, 'known')))[0]))
    const known = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ ...known, tools: known.tools.slice(0, 1) }))
    const next = create()
    expect(await next.tools(workdir)).toHaveLength(1)
    expect(await call(await toolOf('mcp__test__hello', next))).toMatchObject({ type: 'ok' })
    await expect.poll(async () => (await next.tools(workdir)).length).toBe(8)
  })
})

describe('ten configured servers that nobody uses', () => {
  it('start no process, also if nobody ever asked them what they offer', async () => {
    const log = join(home, 'starts')
    await configure(
      join(home, 'mcp.json'),
      Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`s${index}`, ['plain', log]])),
    )
    expect((await servers.tools(workdir)).map(({ schema }) => schema.name)).toEqual(
      Array.from({ length: 10 }, (_, index) => `mcp__s${index}__list_tools`),
    )
    expect(existsSync(log)).toBe(false)
  })

  it('start no process, also when sessions list tools, commands and servers', async () => {
    const log = join(home, 'starts')
    const entry = { command: process.execPath, args: [fixture, 'plain', log] }
    const mcpServers = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`s${index}`, entry]))
    await writeFile(join(home, 'mcp.json'), JSON.stringify({ mcpServers }))
    // They are known from an earlier run.
    for (let index = 0; index < 10; index++) await servers.test(workdir, `s${index}`, never)
    const before = (await readFile(log, 'utf8')).trim().split('\n')
    expect(before).toHaveLength(10)
    const next = create()
    expect(await next.tools(workdir)).toHaveLength(80)
    expect(await next.prompts(workdir)).toEqual([])
    expect((await next.list(workdir)).servers.map(({ state }) => state)).toEqual(Array(10).fill('stopped'))
    expect((await readFile(log, 'utf8')).trim().split('\n')).toEqual(before)
  })
})
