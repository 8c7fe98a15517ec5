import { expect, it } from 'vitest'
import { createLogin } from './login.ts'

it('says that the login has ended at the first answer with status 401, until it is tried again', async () => {
  const statuses = [200, 401, 200]
  const login = createLogin(async () => new Response(null, { status: statuses.shift() ?? 200 }))
  let changes = 0
  login.subscribe(() => changes++)
  await login.fetch('/v1/sessions')
  expect(login.isEnded()).toBe(false)
  await login.fetch('/v1/sessions/1/commands')
  await login.fetch('/healthz')
  expect([login.isEnded(), changes]).toEqual([true, 1])
  login.retry()
  expect([login.isEnded(), changes]).toEqual([false, 2])
})
