import { commandTypes, ok, type SessionId, type TokenRole } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { eachCommand } from '../../../../core/src/testing/each-command.ts'
import { absentParts } from '../define/server-parts.ts'
import { routes } from '../routes/routes.ts'
import { sessionId } from '../testing/fake-sessions.ts'
import { codeOf, openTestServer } from '../testing/test-server.ts'
import { commandAccess, routeAccess } from './roles.ts'

const rank = { viewer: 0, driver: 1, admin: 2 } as const
const other = `ses_${'0'.repeat(26)}` as SessionId // of the right form

async function* pieces() {
  yield 'a session'
}

const queryOf: Readonly<Record<string, string>> = {
  '/v1/search': '?q=a',
  '/v1/find': '?key=a',
  '/v1/sessions/:id/file': '?path=a.txt',
  '/v1/permissions': '?workspace=/w',
  '/v1/trust': '?workdir=/w',
  '/v1/hooks': '?workdir=/w',
  '/v1/skills': '?workdir=/w',
  '/v1/agents': '?workdir=/w',
  '/v1/servers': '?workdir=/w',
  '/v1/commands': '?workdir=/w',
  '/v1/folders/complete': '?workdir=/w',
  '/v1/tools': '?workdir=/w',
}
const concrete = (path: string) =>
  path
    .replace(':id', sessionId)
    .replace(':attachment', 'tab-1')
    .replace(':hash', '0'.repeat(64))
    .replace(':rule', 'none')
    .replace(':token', 'none') + (queryOf[path] ?? '')

/** The session of the test lets nobody attach, so an attachment that is allowed is one that cannot be made. */
const bodyOf = (path: string, isOther: boolean): string => {
  if (path.endsWith('/attachments') && !isOther) return '{"role":"captain"}'
  if (path.endsWith('/handover')) return '{"client":"tab-2"}'
  return path.endsWith('/commands') ? '{"type":"abort"}' : '{}'
}

/** A token of each kind: of each role for all sessions, for the session of the test, and for another one. */
async function openWithTokens() {
  const transfer = { ...absentParts.transfer, export: async () => ok(pieces()) }
  const test = await openTestServer({ transfer })
  const create = async (role: TokenRole, session: SessionId | null) => {
    const created = await test.storedTokens.create({ name: `${role} ${session}`, role })
    if (!created.ok) throw new Error(created.fault.message)
    const stored = (await test.rows.tokens()).at(-1)
    if (stored && session !== null) {
      await test.rows.removeToken(stored.id)
      await test.rows.addToken({ ...stored, session })
    }
    return { role, session, secret: created.value.secret }
  }
  const callers = [
    ...[await create('viewer', null), await create('driver', null), await create('admin', null)],
    ...[await create('viewer', sessionId), await create('driver', sessionId)],
    ...[await create('viewer', other), await create('driver', other)],
  ]
  test.clock.ms += 1000 // the tokens are read again
  return { test, callers }
}

describe('roles', () => {
  it('are declared for every route, and for no other', () => {
    const declared = Object.keys(routeAccess)
    expect(routes.map(({ method, path }) => `${method} ${path}`)).toEqual(declared)
  })

  it('let only drivers and admins change something, and only admins what applies to everything', () => {
    const weak = routes.filter(
      ({ method, access: { role } }) => method !== 'GET' && role !== 'driver' && role !== 'admin',
    )
    expect(weak.map(({ path }) => path)).toEqual([
      '/v1/login',
      '/v1/logout',
      '/v1/stream/:stream/follow',
      '/v1/stream/:stream/unfollow',
      '/v1/stream/:stream/join',
      '/v1/stream/:stream',
    ])
    for (const part of [
      'tokens',
      'permissions',
      'trust',
      'hooks',
      'import',
      'stats',
      'clear',
      'prune',
      'login-links',
      'logins',
    ])
      for (const { path, access } of routes.filter(({ path }) => path.startsWith(`/v1/${part}`)))
        expect([path, access]).toMatchObject([path, { role: 'admin', bound: null }])
    for (const { path, access } of routes)
      if (access.bound === 'admin') throw new Error(`${path}: an admin token is for all sessions`)
  })

  it('are checked on every route for every kind of token, and a refused request does nothing', {
    timeout: 120_000,
  }, async () => {
    const { test, callers } = await openWithTokens()
    await using _ = test
    for (const { role, session, secret } of callers)
      for (const { method, path, access } of routes) {
        if (access.role === 'open') continue
        test.fake.touched.length = 0
        const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
        const body = bodyOf(path, session === other)
        const response = await test.call(concrete(path), { method, headers, ...(method === 'POST' && { body }) })
        const least = session === null ? access.role : access.bound
        const may = least !== null && rank[role] >= rank[least]
        const what = `${role} of ${session ?? 'all'}: ${method} ${path}`
        if (!may) {
          const answer: unknown = await response.json()
          const error = { code: 'not_driver', details: { needs: least ?? access.role, role } } // `driver` if another client drives
          expect([what, response.status, answer]).toMatchObject([what, 403, { error }])
          expect([what, test.fake.touched]).toEqual([what, []])
        } else if (session === other && path.includes(':id')) {
          expect([what, response.status, await codeOf(response)]).toEqual([what, 404, 'session_not_found'])
        } else {
          expect([what, [401, 403].includes(response.status)]).toEqual([what, false])
          await response.body?.cancel()
        }
      }
  })

  it('are checked for every command and every kind of token, and a refused command is not recorded', {
    timeout: 120_000,
  }, async () => {
    const { test, callers } = await openWithTokens()
    await using _ = test
    const commands = [
      ...commandTypes.map((type) => eachCommand[type]),
      { type: 'setToolTrust', tool: 'shell', scope: 'workspace' } as const,
      { type: 'respondToApproval', decision: 'approve_always' } as const,
    ]
    for (const { role, session, secret } of callers)
      for (const command of commands) {
        const before = test.fake.records.length
        const access = commandAccess(command as Parameters<typeof commandAccess>[0])
        const headers = { authorization: `Bearer ${secret}` }
        const response = await test.post(`/v1/sessions/${sessionId}/commands`, JSON.stringify(command), headers)
        const least = session === null ? access.role : access.bound
        const may = least !== null && least !== 'open' && rank[role] >= rank[least]
        const what = `${role} of ${session ?? 'all'}: ${JSON.stringify(command)}`
        const code = response.ok ? 'ok' : await codeOf(response)
        if (!may) expect([what, response.status, code]).toEqual([what, 403, 'not_driver'])
        else if (session === other) expect([what, code]).toEqual([what, 'session_not_found'])
        else expect([what, code === 'not_driver']).toEqual([what, false])
        if (!may || session === other) expect(test.fake.records.length).toBe(before)
      }
  })

  it('are the same for a route and a command that do the same for all sessions', async () => {
    const { test, callers } = await openWithTokens()
    await using _ = test
    const guest = callers.find(({ role, session }) => role === 'driver' && session === sessionId)
    const headers = { authorization: `Bearer ${guest?.secret}` }
    const asRoute = await test.post('/v1/credentials/refresh', '{}', headers)
    const body = JSON.stringify({ type: 'refreshCredentials' })
    const asCommand = await test.post(`/v1/sessions/${sessionId}/commands`, body, headers)
    expect([asRoute.status, asCommand.status]).toEqual([403, 403])
  })

  it('keep standing approvals for admins', () => {
    const admin = { role: 'admin', bound: null, isOfServer: true }
    expect(commandAccess({ type: 'setToolTrust', tool: 'shell', scope: 'workspace' })).toEqual(admin)
    expect(commandAccess({ type: 'respondToApproval', decision: 'approve_always' })).toEqual(admin)
    expect(commandAccess({ type: 'respondToApproval', decision: 'approve_session' }).role).toBe('driver')
    expect(commandAccess({ type: 'fork' }).bound).toBeNull()
  })
})
