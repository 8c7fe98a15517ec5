import { describe, expect, it } from 'vitest'
import { findLiveOwners } from './ownership.ts'

describe('findLiveOwners', () => {
  it('returns the owners that answer, and asks no other node', async () => {
    const asked: string[] = []
    const nodes = async () => ['alive', 'dead', 'other'].map((id) => ({ id, address: '', startedAt: '' }))
    const isAlive = async ({ id }: { readonly id: string }) => {
      asked.push(id)
      return id === 'alive'
    }
    expect(await findLiveOwners(new Set(['alive', 'dead', 'unregistered']), { nodes }, isAlive)).toEqual(
      new Set(['alive']),
    )
    expect(asked).toEqual(['alive', 'dead'])
  })

  it('looks up no nodes without owners', async () => {
    const nodes = () => Promise.reject(new Error('looked up'))
    expect(await findLiveOwners(new Set(), { nodes }, async () => true)).toEqual(new Set())
  })
})
