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
