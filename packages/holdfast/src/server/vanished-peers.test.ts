import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createVanishedCheck, toTableAddress } from './vanished-peers.ts'

const port = 4820 // 12D4
const row = (remote: string, { waiting = 0, repeats = 0, state = '01' }) => {
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0')
  return `   7: 0100007F:12D4 ${remote} ${state} ${hex(waiting)}:00000000 01:00000014 ${hex(repeats)}     0        0 55 2 ffff`
}

function setUp(remoteAddress: string, remotePort: number) {
  const socket = Object.defineProperties(new Socket(), {
    remoteAddress: { value: remoteAddress },
    remotePort: { value: remotePort },
  })
  const test = { table: '', ms: 0, reads: 0, open: [socket] }
  const check = createVanishedCheck({
    connections: () => test.open,
    now: () => test.ms,
    async readTable() {
      test.reads += 1
      return test.table
    },
  })
  return { socket, test, check: () => check(port) }
}

describe('a peer that vanished', () => {
  it.each([
    ['10.0.0.2', '0200000A'],
    ['2001:db8::1', 'B80D0120000000000000000001000000'],
    ['::ffff:10.0.0.2', '0000000000000000FFFF00000200000A'],
    ['::1', '00000000000000000000000001000000'],
  ])('is found by the address %s', (address, spelled) => {
    expect(toTableAddress(address)).toBe(spelled)
  })

  it('is cut when it has acknowledged nothing for 20 seconds', async () => {
    const { socket, test, check } = setUp('10.0.0.2', 51000)
    test.table = row('0200000A:C738', { waiting: 12, repeats: 4 })
    await check()
    test.ms = 19_000
    await check()
    expect(socket.destroyed).toBe(false)
    test.ms = 20_000
    await check()
    expect(socket.destroyed).toBe(true)
  })

  it('is kept if it comes back in between', async () => {
    const { socket, test, check } = setUp('10.0.0.2', 51000)
    const silent = row('0200000A:C738', { waiting: 12, repeats: 4 })
    for (const [ms, table] of [
      [0, silent],
      [15_000, row('0200000A:C738', {})],
      [30_000, silent],
      [45_000, silent],
    ] as const) {
      Object.assign(test, { ms, table })
      await check()
    }
    expect(socket.destroyed).toBe(false)
  })

  it.each([
    ['another port', row('0200000A:C739', { waiting: 12, repeats: 9 })],
    ['another address', row('0300000A:C738', { waiting: 12, repeats: 9 })],
    ['nothing that waits', row('0200000A:C738', { repeats: 9 })],
    ['few repeats', row('0200000A:C738', { waiting: 12, repeats: 2 })],
    ['another state', row('0200000A:C738', { waiting: 12, repeats: 9, state: '08' })],
  ])('is not a peer with %s', async (_, table) => {
    const { socket, test, check } = setUp('10.0.0.2', 51000)
    test.table = table
    await check()
    test.ms = 60_000
    await check()
    expect(socket.destroyed).toBe(false)
  })

  it('is not looked for without connections', async () => {
    const { test, check } = setUp('10.0.0.2', 51000)
    test.open = []
    await check()
    expect(test.reads).toBe(0)
  })
})
