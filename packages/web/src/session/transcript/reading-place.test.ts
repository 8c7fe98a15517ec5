import type { LiveView } from '@holdfast/client'
import { ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { keepPlace, loadTo, placeOf } from './reading-place.ts'

describe('the place where a person read', () => {
  it('is kept for the sessions that were read last', () => {
    for (let index = 0; index < 20; index++) keepPlace(`s${index}`, { message: index, abovePx: 3 })
    expect(placeOf('s3')).toBeNull()
    expect(placeOf('s4')).toEqual({ message: 4, abovePx: 3 })
    keepPlace('s4', null)
    expect(placeOf('s4')).toBeNull()
  })
})

/** A view that loads its messages in pages of ten. */
function pagedView(first: number, last: number) {
  let oldest = last - 9
  let loads = 0
  const view = {
    get messages() {
      return Array.from({ length: last - oldest + 1 }, (_, index) => ({ id: oldest + index }))
    },
    get hasOlder() {
      return oldest > first
    },
    loadOlder: async () => {
      loads++
      oldest -= 10
      return ok(null)
    },
  }
  // The part of a view that loading uses.
  return { view: view as unknown as LiveView, loads: () => loads }
}

describe('loading up to a message', () => {
  it('loads no more pages than needed, each once', async () => {
    const { view, loads } = pagedView(1, 100)
    expect(await loadTo(view, 75)).toBe(true)
    expect(loads()).toBe(2)
    expect(await loadTo(view, 95)).toBe(true)
    expect(loads()).toBe(2)
  })

  it('says that a message is not part of the line', async () => {
    const { view } = pagedView(1, 20)
    expect(await loadTo(view, 0)).toBe(false)
    expect(await loadTo(view, 300)).toBe(false)
  })
})
