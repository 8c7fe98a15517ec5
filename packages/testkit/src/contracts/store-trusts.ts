import type { TrustChange } from '@holdfast/core/ports'
import { BlobHash, type Trust } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import {
  appendTo,
  codeOf,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  type OpenStore,
  useStore,
} from './store-fixture.ts'

const hash = (digit: string) => BlobHash.parse(digit.repeat(64))
const trustIn = (tool: string, argsHash?: BlobHash): Trust => ({
  tool,
  scope: 'workspace',
  ...(argsHash !== undefined && { argsHash }),
})
const granted = (tool: string, argsHash?: BlobHash): TrustChange => ({
  type: 'granted',
  trust: trustIn(tool, argsHash),
})
const revoked = (tool: string | null): TrustChange => ({ type: 'revoked', tool })

/** Describes workspace trust: it changes only with an append, and only for that workspace. */
export function describeTrusts(open: OpenStore): void {
  const store = useStore(open)
  const here = () => store().workspaceTrust('/work')

  describe('workspace trust', () => {
    it('is empty until granted', async () => {
      expect(await here()).toEqual([])
    })

    it('is granted with the append, for one exact call and for a tool', async () => {
      await mustCreate(store(), newSession(1), newSession(2))
      await mustAppend(store(), appendTo(1, 1, { trust: [granted('shell', hash('b')), granted('shell', hash('a'))] }))
      await mustAppend(store(), appendTo(2, 1, { trust: [granted('shell', hash('a')), granted('edit_file')] }))
      expect(await here()).toStrictEqual([
        trustIn('edit_file'),
        trustIn('shell', hash('a')),
        trustIn('shell', hash('b')),
      ])
      await mustAppend(store(), appendTo(1, 2, { trust: [granted('shell')] }))
      expect(await here()).toHaveLength(4)
    })

    it('stays unchanged when the append is refused', async () => {
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), appendTo(1, 1, { trust: [granted('shell')] }))
      const trust = [revoked(null), granted('edit_file')]
      expect(codeOf(await store().append(appendTo(1, 1, { trust })))).toBe('log_moved')
      expect(codeOf(await store().append(appendTo(1, 2, { trust, epoch: 2 })))).toBe('fenced')
      expect(codeOf(await store().append(appendTo(9, 0, { trust })))).toBe('session_not_found')
      expect(await here()).toEqual([trustIn('shell')])
    })

    it('is revoked for one tool or for all', async () => {
      await mustCreate(store(), newSession(1))
      const trust = [granted('shell'), granted('shell', hash('a')), granted('edit_file'), granted('write_file')]
      await mustAppend(store(), appendTo(1, 1, { trust }))
      await mustAppend(store(), appendTo(1, 2, { trust: [revoked('shell'), revoked('unknown')] }))
      expect(await here()).toEqual([trustIn('edit_file'), trustIn('write_file')])
      await mustAppend(store(), appendTo(1, 3, { trust: [revoked(null)] }))
      expect(await here()).toEqual([])
    })

    it('changes in the order of appends', async () => {
      await mustCreate(store(), newSession(1))
      const trust = [granted('shell'), revoked(null), granted('edit_file'), granted('shell', hash('a'))]
      await mustAppend(store(), appendTo(1, 1, { trust }))
      expect(await here()).toEqual([trustIn('edit_file'), trustIn('shell', hash('a'))])
    })

    it('does not affect another workspace', async () => {
      const entry = entryOf(2, { meta: { workspace: '/elsewhere' } })
      await mustCreate(store(), newSession(1), newSession(2, { entry }))
      await mustAppend(store(), appendTo(1, 1, { trust: [granted('shell')] }))
      await mustAppend(store(), appendTo(2, 1, { entry, trust: [granted('edit_file')] }))
      await mustAppend(store(), appendTo(1, 2, { trust: [revoked(null)] }))
      expect(await here()).toEqual([])
      expect(await store().workspaceTrust('/elsewhere')).toEqual([trustIn('edit_file')])
    })
  })
}
