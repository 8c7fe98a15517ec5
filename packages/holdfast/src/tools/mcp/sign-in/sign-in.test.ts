import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSignInServer, type SignInServer } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openServers, signInTo, signOutOf } from '../../../open/open-servers.ts'
import { findHome } from '../../../system/home.ts'

let directory = ''
let server: SignInServer
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-sign-in-'))
  server = await openSignInServer()
  const home = findHome({ HOLDFAST_HOME: directory })
  await mkdir(home.configDir, { recursive: true })
  const file = JSON.stringify({ mcpServers: { signed: { url: server.url } } })
  await writeFile(join(home.configDir, 'mcp.json'), file)
})
afterEach(async () => {
  await server.close()
  await rm(directory, { recursive: true, force: true })
})

const home = () => findHome({ HOLDFAST_HOME: directory })
const never = new AbortController().signal

/** Opens what a process has of its own. Two of them are two processes, as far as files are concerned. */
function open() {
  const problems: unknown[] = []
  const servers = openServers({ home: home(), environment: {}, onProblem: (problem) => problems.push(problem) })
  const call = async () => {
    const tool = (await servers.tools(directory)).find(({ schema }) => schema.name === 'mcp__signed__who')
    if (!tool) throw new Error('the tool is not known')
    const { type, output } = await tool.run({}, { workdir: directory }, toolRun)
    return { type, text: output.text }
  }
  return { servers, call, problems, [Symbol.asyncDispose]: () => servers.close() }
}
const toolRun = {
  signal: never,
  begin: async () => undefined,
  show: () => undefined,
  storeOutput: async () => ({ text: '' }),
}

/** Signs in as a person with a browser on this machine would. */
async function signIn(visit: (page: URL) => Promise<URL> = server.approve) {
  await using test = open()
  const found = await test.servers.find(directory, 'signed')
  if (!found.ok) throw new Error(found.fault.message)
  return signInTo({
    home: home(),
    server: found.value,
    async authorize(page, { wait }) {
      const waiting = wait(AbortSignal.timeout(20_000))
      await fetch(await visit(page))
      return waiting
    },
  })
}

describe('a server that wants a sign-in', () => {
  it('says so, also to the next process, and no page is opened and nothing registered for it', async () => {
    await using test = open()
    const asked = await test.servers.test(directory, 'signed', never)
    expect(asked).toMatchObject({ ok: false, fault: { message: expect.stringContaining('holdfast mcp login signed') } })
    const listed = { servers: [{ name: 'signed', state: 'needs_sign_in', why: expect.stringContaining('sign in') }] }
    expect(await test.servers.list(directory)).toMatchObject(listed)
    await using next = open()
    expect(await next.servers.list(directory)).toMatchObject(listed)
    expect(server.seen).toMatchObject({ registered: 0, authorized: 0 })
  })

  it('works after the sign-in, with tokens in a file that only its owner can read', async () => {
    expect(await signIn()).toEqual({ ok: true, value: 'signed in' })
    await using test = open()
    expect(await test.servers.test(directory, 'signed', never)).toMatchObject({ ok: true })
    expect(await test.call()).toEqual({ type: 'ok', text: 'you are signed in' })
    expect(await test.servers.list(directory)).toMatchObject({ servers: [{ state: 'ready' }] })
    expect(server.seen).toMatchObject({ registered: 1, authorized: 1, exchanged: 1, refusals: [] })
    const folder = join(home().dataDir, 'mcp-sign-in')
    const [file = ''] = await readdir(folder)
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(join(folder, file), 'utf8'))).toMatchObject({ issuer: server.issuer })
  })

  it('ignores a visit with another state, and still takes the right one', async () => {
    const signedIn = await signIn(async (page) => {
      const right = await server.approve(page)
      const forged = new URL(right)
      forged.searchParams.set('state', 'forged')
      expect((await fetch(forged)).status).toBe(404)
      return right
    })
    expect(signedIn).toEqual({ ok: true, value: 'signed in' })
  })

  it('does not take a pasted address that belongs to another sign-in', async () => {
    await using test = open()
    const found = await test.servers.find(directory, 'signed')
    if (!found.ok) throw new Error(found.fault.message)
    const authorize = async () => new URL('http://127.0.0.1/callback?code=stolen&state=theirs')
    const signedIn = await signInTo({ home: home(), server: found.value, authorize })
    expect(signedIn).toMatchObject({ ok: false, fault: { message: expect.stringContaining('does not belong') } })
    expect(server.seen.exchanged).toBe(0)
  })

  it('is refreshed once, however many calls and processes find that the token has ended', async () => {
    await signIn()
    await using one = open()
    await using other = open()
    for (const { servers } of [one, other]) await servers.test(directory, 'signed', never)
    server.expireAccess()
    const results = await Promise.all([one.call(), one.call(), other.call(), other.call()])
    expect(results.map(({ type }) => type)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect(server.seen).toMatchObject({ refreshed: 1, refusals: [] })
  })

  it('keeps the sign-in if a refresh fails, so that a later one works', async () => {
    await signIn()
    await using test = open()
    await test.servers.test(directory, 'signed', never)
    server.expireAccess()
    server.setAway(true)
    expect(await test.call()).toMatchObject({ type: 'failed', text: expect.stringContaining('holdfast mcp login') })
    expect(await test.servers.list(directory)).toMatchObject({ servers: [{ state: 'needs_sign_in' }] })
    server.setAway(false)
    expect(await test.call()).toEqual({ type: 'ok', text: 'you are signed in' })
    expect(server.seen).toMatchObject({ refreshed: 1, authorized: 1 })
  })

  it('asks for more rights at the next sign-in, if a call needs them', async () => {
    await signIn()
    await using test = open()
    await test.servers.test(directory, 'signed', never)
    server.wantScope('write')
    expect(await test.call()).toMatchObject({
      type: 'failed',
      text: expect.stringContaining('needs more rights: write'),
    })
    await signIn()
    expect(await test.call()).toEqual({ type: 'ok', text: 'you are signed in' })
  })

  it('is signed out of by deleting the tokens', async () => {
    await signIn()
    const connect = { type: 'http', url: server.url, headers: {} } as const
    expect(await signOutOf(home(), { name: 'signed', connect })).toEqual({ ok: true, value: true })
    expect(await signOutOf(home(), { name: 'signed', connect })).toEqual({ ok: true, value: false })
    await using test = open()
    expect(await test.servers.test(directory, 'signed', never)).toMatchObject({ ok: false })
  })
})
