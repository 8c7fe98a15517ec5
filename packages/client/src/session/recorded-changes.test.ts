import { fault, ok, type Result, refuse, type SessionHandle } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { noChangesText } from './recorded-changes.ts'

type Page = Awaited<ReturnType<SessionHandle['page']>>

/** A transcript of two pages whose older one has a call of `tool`. */
const handleWith = (tool: string, status = 'complete'): Pick<SessionHandle, 'page'> => ({
  async page({ before } = {}) {
    const messages = before === undefined ? [] : [{ kind: 'tool_call', call: { tool, status } }]
    return ok({ messages, before: before === undefined ? 7 : null, after: null }) as unknown as Page // only what is read
  },
})

it('says that no file changed only if no shell command can have changed one', async () => {
  expect(await noChangesText(handleWith('read_file'), 'Nothing.')).toBe('Nothing.')
  expect(await noChangesText(handleWith('shell'), 'Nothing.')).toMatch(/^No changed file is on record\. What shell/)
  expect(await noChangesText(handleWith('shell', 'denied'), 'Nothing.')).toBe('Nothing.')
  const unread = { page: async (): Promise<Result<never>> => refuse(fault('storage_error', 'gone')) }
  expect(await noChangesText(unread, 'Nothing.')).toMatch(/^No changed file is on record\./)
})

it('searches a bounded number of pages, however long the transcript is', async () => {
  let read = 0
  const endless: Pick<SessionHandle, 'page'> = {
    async page() {
      read++
      return ok({ messages: [], before: read > 1000 ? null : 1001 - read, after: null }) as unknown as Page // only what is read
    },
  }
  expect(await noChangesText(endless, 'Nothing.')).toMatch(/^No changed file is on record\./)
  expect(read).toBe(20)
})
