import { describe, expect, it } from 'vitest'
import { findLiveOwners } from './ownership.ts'

describe('the living among owners', () => {
  it('are those that answer, and no other node is asked', async () => {
    const asked: string[] = []
    const nodes = async () => ['living', 'dead', 'other'].map((id) => ({ id, address: '', startedAt: '' }))
    const isAlive = async ({ id }: { readonly id: string }) => {
      asked.push(id)
      return id === 'living'
    }
    expect(await findLiveOwners(new Set(['living', 'dead', 'unregistered']), { nodes }, isAlive)).toEqual(
      new Set(['living']),
    )
    expect(asked).toEqual(['living', 'dead'])
  })

  it('are not even looked up where there is no owner', async () => {
    const nodes = () => Promise.reject(new Error('looked up'))
    expect(await findLiveOwners(new Set(), { nodes }, async () => true)).toEqual(new Set())
  })
})
