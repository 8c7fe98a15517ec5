import { orThrow } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createOutbox } from './outbox.ts'

describe('the outbox', () => {
  it('lets few answers be built at once, and turns the event loop before each next one', async () => {
    const turns: (() => void)[] = []
    const { enter } = createOutbox({ connections: () => [], nextTurn: (go) => turns.push(go) })
    const entered: (() => void)[] = []
    const all = Array.from({ length: 100 }, async () => entered.push(orThrow(await enter('stream'))))
    await Promise.all(all.slice(0, 16))
    expect(entered).toHaveLength(16)
    for (let built = 0; built < 84; built++) {
      entered[built]?.()
      expect([entered.length, turns.length]).toEqual([16 + built, 1])
      turns.shift()?.()
      await all[16 + built]
    }
    await Promise.all(all)
  })

  it('counts bytes that several streams send once, until the last has sent them', () => {
    const { bytes, hold } = createOutbox({ connections: () => [{ writableLength: 7 }] })
    const piece = new Uint8Array(1000)
    const [one, two] = [hold(piece), hold(piece)]
    expect(bytes()).toBe(1007)
    one()
    expect(bytes()).toBe(1007)
    two()
    expect(bytes()).toBe(7)
  })

  it('refuses above its limit, and gives the place to the next', async () => {
    const socket = { writableLength: 11 }
    const { enter } = createOutbox({ connections: () => [socket], bytesMax: 10 })
    for (let each = 0; each < 40; each++)
      expect(await enter('stream')).toMatchObject({ ok: false, fault: { code: 'server_busy' } })
    socket.writableLength = 10
    expect(await enter('stream')).toMatchObject({ ok: true })
  })
})
