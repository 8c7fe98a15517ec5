import { decodeFrames } from '@holdfast/client'
import { fault } from '@holdfast/protocol'
import { createFaultyStore } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../store/memory/memory-store.ts'
import { storageFault } from '../../store/storage-fault.ts'
import { openRuntimeServer } from '../testing/runtime-server.ts'
import { faultFor } from './public-storage-error.ts'

const path = '/srv/people/anna/store.db'
const full = storageFault(path, 'disk_full', { error: `ENOSPC: ${path}` })

it('tells only an admin the path of a store that rejects writes', async () => {
  const store = createFaultyStore(createMemoryStore())
  await using test = await openRuntimeServer({}, undefined, { store })
  store.breakDown(full)
  const as = (token: string, url: string, init: RequestInit = {}) =>
    test.call(url, { ...init, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } })
  const body = JSON.stringify({ type: 'rename', title: 'A' })
  const refusalFor = async (token: string) =>
    (await as(token, `${test.path}/commands`, { method: 'POST', body })).text()
  const firstFrame = async (token: string, url: string, type: string) => {
    const answer = await as(token, url)
    for await (const frame of decodeFrames(answer.body ?? new ReadableStream())) {
      if (frame.type === type) return JSON.stringify(frame)
    }
    return ''
  }
  const { admin, driver, viewer } = test.tokens
  const refused = await refusalFor(driver)
  expect(refused).toContain(
    'The store cannot be used: the disk is full; free some space. Your command was not accepted.',
  )
  expect(JSON.parse(refused).error.details).toEqual({ reason: 'disk_full' })

  const shownTo = async (token: string) => [
    await (await as(token, test.path)).text(),
    await (await as(token, `${test.path}/state?fields=here`)).text(),
    await firstFrame(token, `${test.path}/events`, 'snapshot'),
    await firstFrame(token, `${test.path}/events?after=1`, 'storage'),
  ]
  for (const text of [refused, ...(await shownTo(viewer)), ...(await shownTo(driver))]) {
    expect(text).toContain('The store cannot be used: the disk is full; free some space.')
    expect(text).not.toContain('anna')
  }
  for (const text of [await refusalFor(admin), ...(await shownTo(admin))]) expect(text).toContain(path)
})

it('says that a command was refused, and when to send it again, whatever the sentence of the fault is', () => {
  const details = { reason: 'disk_full', path, isCommandRefused: true, retryAfterSeconds: 1 }
  expect(faultFor(null, fault('storage_error', `A sentence with ${path}.`, details))).toEqual({
    code: 'storage_error',
    message:
      'The store cannot be used: the disk is full; free some space. Your command was not accepted. Send it again when the store works.',
    details: { reason: 'disk_full', retryAfterSeconds: 1 },
  })
})

it('leaves out the reason it does not know, and leaves other faults alone', () => {
  const moved = fault('storage_error', `Its records were saved to ${path}.`, { reason: 'recovered', saved: path })
  expect(faultFor(null, moved)).toEqual({
    code: 'storage_error',
    message: 'The store cannot be used: the log of the server has the reason.',
    details: { reason: 'recovered' },
  })
  const other = fault('not_found', 'There is none.', { path })
  expect(faultFor(null, other)).toBe(other)
})
