import type { LocalSession, LocalSessions } from '@holdfast/core'
import { limits, ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { openRuntimeServer } from '../testing/runtime-server.ts'
import { codeOf } from '../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openRuntimeServer>>

async function logIn({ server }: Test) {
  const response = await fetch(server.loginLink(), { redirect: 'manual' })
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  return { cookie, 'sec-fetch-site': 'same-origin' }
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
type Headers = Readonly<Record<string, string>>

function callsOf(test: Test) {
  const send = async (headers: Headers, method: string, path: string, body?: object) => {
    const answer = await test.call(`${test.path}${path}`, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return answer.ok ? answer.status : codeOf(answer)
  }
  return {
    attach: (as: Headers, role = 'driver') => send(as, 'POST', '/attachments', { attachment: 'mine', role }),
    uses: (as: Headers) => [
      () => send(as, 'POST', '/attachments', { attachment: 'mine', role: 'viewer' }),
      () => send(as, 'GET', '/events?attachment=mine&role=viewer'),
      () => send({ ...as, 'holdfast-attachment': 'mine' }, 'POST', '/commands', { type: 'rename', title: 'taken' }),
      () => send(as, 'POST', '/attachments/mine/claim'),
      () => send(as, 'POST', '/attachments/mine/handover', { client: 'mine' }),
      () => send(as, 'DELETE', '/attachments/mine'),
    ],
  }
}

describe('an attachment', () => {
  it.each(['a token', 'a login'])('made by %s cannot be used or ended by another caller', async (maker) => {
    await using test = await openRuntimeServer()
    const { attach, uses } = callsOf(test)
    const [login, otherLogin] = [await logIn(test), await logIn(test)]
    const own = maker === 'a token' ? bearer(test.tokens.driver) : login
    const others = [bearer(test.tokens.admin), otherLogin, ...(maker === 'a token' ? [login] : [])]
    expect(await attach(own)).toBe(201)
    const before = await test.runtime.handle.snapshot()
    for (const other of others)
      for (const use of uses(other)) expect([String(use), await use()]).toEqual([String(use), 'foreign_attachment'])
    expect(await test.runtime.handle.snapshot()).toEqual(before)
  })

  it('cannot have the name of those who command without one: they could neither command nor stop', async () => {
    await using test = await openRuntimeServer()
    const send = (path: string, token: string, body?: object) =>
      test.call(`${test.path}${path}`, {
        headers: { ...bearer(token), 'content-type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      })
    const { viewer, driver } = test.tokens
    for (const taken of [
      await send('/events?attachment=token:driver', viewer),
      await send('/attachments', driver, { attachment: 'token:driver' }),
    ])
      expect([taken.status, await codeOf(taken)]).toEqual([403, 'foreign_attachment'])
    expect((await send('/commands', driver, { type: 'rename', title: 'mine' })).status).toBe(202)
  })

  it('stays when another caller attaches more clients than one may have', async () => {
    await using test = await openRuntimeServer()
    const { attach, uses } = callsOf(test)
    const [own, flood] = [bearer(test.tokens.driver), await logIn(test)]
    expect(await attach(own)).toBe(201)
    for (let each = 0; each <= limits.detachedClientsMax; each++) {
      const answer = await test.call(`${test.path}/attachments`, {
        method: 'POST',
        headers: { ...flood, 'content-type': 'application/json' },
        body: JSON.stringify({ attachment: `f${each}`, role: 'viewer' }),
      })
      expect(answer.status).toBe(201)
    }
    const snapshot = await test.runtime.handle.snapshot()
    const attached = snapshot.ok ? (snapshot.value.here?.clients ?? []).map(({ client }) => client) : []
    expect(attached).toContain('mine')
    expect(attached).not.toContain('f0')
    expect(attached).toHaveLength(1 + limits.detachedClientsMax)
    expect(await attach(flood)).toBe('foreign_attachment')
    expect(await uses(own)[2]?.()).toBe(202)
  })

  it('works for its own caller after a reload, and its name is free once it has left', async () => {
    await using test = await openRuntimeServer()
    const { attach, uses } = callsOf(test)
    const login = await logIn(test)
    expect(await attach(login)).toBe(201)
    expect(await attach(login)).toBe(201)
    expect(await uses(login)[2]?.()).toBe(202)
    expect(await uses(login)[5]?.()).toBe(204)
    expect(await attach(bearer(test.tokens.driver))).toBe(201)
  })
})

/** Lets `change` replace the methods of every session that is opened. */
const changeHandles =
  (change: (handle: LocalSession) => Partial<LocalSession>) =>
  (sessions: LocalSessions): LocalSessions => ({
    ...sessions,
    async open(name) {
      const opened = await sessions.open(name)
      return opened.ok ? ok({ ...opened.value, ...change(opened.value) }) : opened
    },
  })

describe('a name that another caller attaches meanwhile', () => {
  it('is refused to a stream that waited for its place', async () => {
    const [release, waiting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let opened = 0
    const streams = 16
    const change = changeHandles((handle) => {
      opened += 1
      if (opened === streams + 1) waiting.resolve()
      return {
        async *subscribe(options) {
          if (options?.client === undefined) await release.promise
          yield* handle.subscribe(options)
        },
      }
    })
    await using test = await openRuntimeServer({}, undefined, {}, change)
    const { attach, uses } = callsOf(test)
    const gone = new AbortController()
    const headers = bearer(test.tokens.viewer)
    const held: Response[] = [] // fetch cancels the stream of a response that is collected
    for (let each = 0; each < streams; each++)
      held.push(await test.call(`${test.path}/events`, { headers, signal: gone.signal }))
    const late = uses(bearer(test.tokens.admin))[1]?.()
    await waiting.promise
    expect(await attach(bearer(test.tokens.driver))).toBe(201)
    release.resolve()
    expect(await late).toBe('foreign_attachment')
    expect(await uses(bearer(test.tokens.driver))[2]?.()).toBe(202)
    expect(held).toHaveLength(streams)
    gone.abort()
  })

  it.each([
    ['a command', 2],
    ['a claim', 3],
    ['a hand-over', 4],
  ])('is refused to %s that waited for its session', async (_, which) => {
    const [release, waiting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let sent = 0
    const change = changeHandles((handle) => ({
      async dispatch(submission) {
        sent += 1
        if (sent === 1) {
          waiting.resolve()
          await release.promise
        }
        return handle.dispatch(submission)
      },
    }))
    await using test = await openRuntimeServer({}, undefined, {}, change)
    const { attach, uses } = callsOf(test)
    const [first, second] = [bearer(test.tokens.admin), bearer(test.tokens.driver)]
    expect(await attach(first)).toBe(201)
    const late = uses(first)[which]?.()
    await waiting.promise
    expect(await uses(first)[5]?.()).toBe(204)
    expect(await attach(second)).toBe(201)
    const before = await test.runtime.handle.snapshot()
    release.resolve()
    expect(await late).toBe('foreign_attachment')
    expect(await test.runtime.handle.snapshot()).toEqual(before)
    expect(await uses(second)[2]?.()).toBe(202)
  })

  it('is refused to an attachment that waited for its session', async () => {
    const [release, waiting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let subscribed = 0
    const change = changeHandles((handle) => ({
      async *subscribe(options) {
        subscribed += 1
        if (subscribed === 1) {
          waiting.resolve()
          await release.promise
        }
        yield* handle.subscribe(options)
      },
    }))
    await using test = await openRuntimeServer({}, undefined, {}, change)
    const { attach, uses } = callsOf(test)
    const [first, second] = [bearer(test.tokens.admin), bearer(test.tokens.driver)]
    const late = attach(first)
    await waiting.promise
    expect(await uses(first)[5]?.()).toBe(204) // leaves before it is attached
    expect(await attach(second)).toBe(201)
    release.resolve()
    expect(await late).toBe('foreign_attachment')
    expect(await uses(second)[2]?.()).toBe(202)
  })
})
