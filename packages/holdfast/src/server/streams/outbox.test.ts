import { orThrow } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createOutbox } from './outbox.ts'

describe('the outbox', () => {
  it('lets few answers be built at once, and begins each next one in a slice of its own', async () => {
    const slices: (() => void)[] = []
    const { enter } = createOutbox({ connections: () => [], nextSlice: (go) => slices.push(go) })
    const entered: (() => void)[] = []
    const all = Array.from({ length: 100 }, async () => entered.push(orThrow(await enter('stream'))))
    await Promise.all(all.slice(0, 16))
    expect(entered).toHaveLength(16)
    for (let built = 0; built < 84; built++) {
      entered[built]?.()
      expect([entered.length, slices.length]).toEqual([16 + built, 1])
      slices.shift()?.()
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

  describe('readInSlices', () => {
    const present = new AbortController().signal
    /** Yields numbers, each when the test says so. */
    function createSource(began: string[], name: string) {
      let go = () => {}
      const source = async function* () {
        for (let item = 1; ; item++) {
          began.push(`${name}${item}`)
          await new Promise<void>((resolve) => {
            go = resolve
          })
          yield item
        }
      }
      return { source: source(), go: () => go() }
    }

    it('reads few items at once, each in its slice', async () => {
      const { readInSlices } = createOutbox({ connections: () => [] })
      const began: string[] = []
      const sources = Array.from('abcdefgh', (name) => createSource(began, name))
      const all = sources.map(({ source }) => readInSlices(source, present))
      const first = all.map((one) => one.next())
      await expect.poll(() => began).toEqual(['a1', 'b1', 'c1'])
      sources[1]?.go()
      expect(await first[1]).toEqual({ value: 1, done: false })
      await expect.poll(() => began).toEqual(['a1', 'b1', 'c1', 'd1'])
    })

    it('reads without a place after the last item that needs one', async () => {
      const { readInSlices } = createOutbox({ connections: () => [] })
      const began: string[] = []
      const a = createSource(began, 'a')
      const others = Array.from('bcd', (name) => createSource(began, name))
      const passing = readInSlices(a.source, present, (item) => item === 1)
      const first = passing.next()
      await expect.poll(() => began).toEqual(['a1'])
      a.go()
      await first
      for (const { source } of others) void readInSlices(source, present).next()
      void passing.next()
      await expect.poll(() => began).toEqual(['a1', 'a2', 'b1', 'c1', 'd1'])
    })

    it('reads what is ready in one slice in one place, and then lets others read', async () => {
      let slices: (() => void)[] = []
      const { readInSlices } = createOutbox({ connections: () => [], nextSlice: (go) => slices.push(go) })
      const began: string[] = []
      const ready = readInSlices(
        (async function* () {
          for (let item = 1; ; item++) yield item
        })(),
        present,
      )
      for (let item = 1; item <= 50; item++) expect(await ready.next()).toEqual({ value: item, done: false })
      expect(slices.length).toBe(1)
      const others = Array.from('abc', (name) => createSource(began, name))
      for (const { source } of others) void readInSlices(source, present).next()
      await expect.poll(() => began).toEqual(['a1', 'b1'])
      while (slices.length > 0) {
        const now = slices
        slices = []
        for (const go of now) go()
      }
      await expect.poll(() => began).toEqual(['a1', 'b1', 'c1'])
    })

    it('does not look at all of many connections for each item', async () => {
      let looks = 0
      const connections = () => {
        looks += 1
        return Array.from({ length: 160 }, () => ({ writableLength: 0 }))
      }
      const { readInSlices } = createOutbox({ connections })
      const items = readInSlices(
        (async function* () {
          for (let item = 1; ; item++) yield item
        })(),
        present,
      )
      for (let item = 1; item <= 110; item++) await items.next()
      expect(looks).toBe(10)
    })

    it('waits while too many bytes are held, and reads nothing for a client that left', async () => {
      const socket = { writableLength: 6 } // above half of the limit
      const gone = new AbortController()
      let pauses = 0
      const pause = async () => {
        pauses += 1
        if (pauses === 3) socket.writableLength = 0
        if (pauses === 5) gone.abort()
      }
      const { readInSlices } = createOutbox({ connections: () => [socket], bytesMax: 10, pause })
      const read: number[] = []
      const source = async function* () {
        for (let item = 1; ; item++) {
          read.push(item)
          yield item
        }
      }
      const paced = readInSlices(source(), gone.signal)
      expect([await paced.next(), pauses]).toEqual([{ value: 1, done: false }, 3])
      socket.writableLength = 6
      expect(await paced.next()).toEqual({ value: undefined, done: true })
      expect([read, pauses]).toEqual([[1], 5])
    })
  })
})
