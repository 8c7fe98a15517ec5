import { createNodeApi, type OtherNode, type SessionRegistry } from '@holdfast/core'
import type { NodeRow } from '@holdfast/core/ports'
import { fault, refuse } from '@holdfast/protocol'
import type { Dice, VirtualClock } from '@holdfast/testkit'
import type { SimProcess } from './sim-process.ts'

/** A process that other nodes can call. */
type Peer = { readonly process: SimProcess; readonly registry: SessionRegistry }

/** The network between nodes. Pairs of them can be cut off from each other. */
export type Network = ReturnType<typeof createNetwork>

const unreachable = refuse(fault('unreachable', 'The node does not answer.'))
const answerMsMax = 2000

export function createNetwork(clock: VirtualClock, dice: Dice) {
  const peers = new Map<string, Peer>()
  const cut = new Set<string>()
  const pair = (left: string, right: string) => [left, right].toSorted().join(' ')
  const delayMs = () => 1 + dice.below(5)

  /** Runs work at a peer and brings its answer back. A lost request or answer is noticed after some time. */
  function carry<Value>(from: string, to: string, work: (peer: Peer) => Promise<Value>, otherwise: Value) {
    const { promise, resolve } = Promise.withResolvers<Value>()
    const mine = peers.get(from)?.process
    mine?.clock.after(answerMsMax, () => resolve(otherwise))
    const isCut = () => cut.has(pair(from, to))
    clock.after(delayMs(), () => {
      const peer = peers.get(to)
      if (isCut()) return
      if (!peer || peer.process.status === 'dead') return mine?.run(() => resolve(otherwise)) // refused at once
      peer.process.onDeath(() => mine?.run(() => resolve(otherwise)))
      peer.process.run(() => {
        const answer = (value: Value) =>
          clock.after(delayMs(), () => peer.process.run(() => isCut() || mine?.run(() => resolve(value))))
        work(peer).then(answer, () => answer(otherwise))
      })
    })
    return promise
  }

  return {
    add: (id: string, peer: Peer) => void peers.set(id, peer),
    cut: (left: string, right: string) => void cut.add(pair(left, right)),
    heal: () => cut.clear(),
    /** Connects a node to the others. */
    reachFrom:
      (from: string) =>
      ({ id }: NodeRow): OtherNode => ({
        call: (request) =>
          carry(
            from,
            id,
            async ({ registry }) => asJson(await createNodeApi(registry).call(asJson(request))),
            unreachable,
          ),
        async *follow(request, signal) {
          const frames = await carry(
            from,
            id,
            async ({ registry }) => createNodeApi(registry).follow(asJson(request), signal),
            unreachable,
          )
          if (!frames.ok) return
          const gone = Promise.withResolvers<null>()
          peers.get(id)?.process.onDeath(() => gone.resolve(null))
          signal.addEventListener('abort', () => gone.resolve(null))
          const reading = frames.value[Symbol.asyncIterator]()
          for (;;) {
            const next = await Promise.race([reading.next(), gone.promise])
            if (next === null || next.done || cut.has(pair(from, id))) return
            yield asJson(next.value)
          }
        },
        sit: async () => unreachable,
        async *news() {},
      }),
  }
}

const asJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value // the same shape
