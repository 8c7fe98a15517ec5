import { expect, it } from 'vitest'
import { createLogin, forgetPrivate } from './login.ts'

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

it('forgets drafts and other private things of this browser at a log out, and keeps how the page looks', () => {
  const kept = new Map([
    ['holdfast.draft.new', 'a secret plan'],
    ['holdfast.sending.s1', 'more of it'],
    ['holdfast.later /work/secret', 'shown'],
    ['holdfast.appearance', '{}'],
    ['other.page', 'not ours'],
  ])
  forgetPrivate([
    {
      length: kept.size,
      key: (index) => [...kept.keys()][index] ?? null,
      removeItem: (key) => void kept.delete(key),
    },
  ])
  expect([...kept.keys()]).toEqual(['holdfast.appearance', 'other.page'])
})
