import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { done } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { openHoldfast } from '../open.ts'
import { codeOf, openTestServer } from '../server/testing/test-server.ts'

it.each(['diff?path=../x', 'file?path=../x', 'diff?path=/etc/passwd'])(
  'a server refuses %s with a code that the route declares',
  async (route) => {
    const base = mkdtempSync(join(tmpdir(), 'hf-files-'))
    const holdfast = await openHoldfast({ store: 'memory:', environment: { HOLDFAST_HOME: join(base, 'home') } })
    try {
      await using test = await openTestServer({ sessions: holdfast.handles, fileAccess: { check: async () => done } })
      const started = await holdfast.handles.start({ workdir: base, model: 'demo/agent' })
      if (!started.ok) throw new Error(started.fault.message)
      const answer = await test.call(`/v1/sessions/${started.value.id}/${route}`)
      expect([answer.status, await codeOf(answer)]).toEqual([403, 'outside_workdir'])
      expect(test.problems).toEqual([])
    } finally {
      await holdfast.close()
      rmSync(base, { recursive: true, force: true })
    }
  },
)
