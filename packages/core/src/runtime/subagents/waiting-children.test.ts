import { type Meta, SessionId } from '@holdfast/protocol'
import { aMeta, aSession } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Listed, ListRequest } from '../../ports/store/catalogue.ts'
import { showWaiting } from './waiting-children.ts'

describe('a list', () => {
  it('shows a session that waits with a subagent for an approval as waiting', async () => {
    const [root, child, grandchild] = ['w', 'x', 'y'].map((end) => SessionId.parse(`${aSession.slice(0, -1)}${end}`))
    if (!root || !child || !grandchild) throw new Error('three names are three ids')
    const asSubagent = (id: SessionId, parent: SessionId, rest: Partial<Meta>): Listed => ({
      busy: rest.waiting === undefined,
      owner: null,
      trashedAt: null,
      position: { pinned: 0, at: 0, order: 0 },
      meta: aMeta({ id, parent, subagent: { root, depth: 1, call: 1, agent: 'general' }, ...rest }),
    })
    const below = (rest: Partial<Meta>) => ({
      list: async ({ startedFor }: ListRequest) => ({
        sessions:
          startedFor === root
            ? [asSubagent(child, root, {})]
            : startedFor === child
              ? [asSubagent(grandchild, child, rest)]
              : [],
        next: null,
      }),
    })
    const cut = aMeta({ id: root, status: 'interrupted' })
    const shown = async (rest: Partial<Meta>) => (await showWaiting(below(rest), [cut]))[0]
    expect(await shown({ waiting: 2 })).toMatchObject({ status: 'tool_executing', waiting: 2 })
    expect(await shown({})).toMatchObject({ status: 'interrupted' })
    expect(await shown({ waiting: 2, background: true })).toMatchObject({ status: 'interrupted' }) // no call waits for it
  })
})
