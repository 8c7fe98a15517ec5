import { createNodeApi, type OtherNode, type SessionRegistry } from '@holdfast/core'
import type { NodeRow } from '@holdfast/core/ports'
import { fault, ok, refuse } from '@holdfast/protocol'

const gone = refuse(fault('unreachable', 'The node is gone.'))

/** Connects runtimes of one process as if each had its own: requests and answers pass as JSON. One that is not in the map is dead. */
export const reachIn =
  (nodes: ReadonlyMap<string, SessionRegistry>) =>
  ({ id }: NodeRow): OtherNode => {
    const api = () => {
      const registry = nodes.get(id)
      return registry ? createNodeApi(registry) : null
    }
    return {
      async call(request) {
        const answer = await api()?.call(asJson(request))
        return nodes.has(id) && answer ? asJson(answer) : gone
      },
      async *follow(request, signal) {
        const frames = api()?.follow(asJson(request), signal)
        if (frames?.ok) for await (const frame of frames.value) yield asJson(frame)
      },
      async sit(request) {
        const seat = await api()?.sit(asJson(request))
        if (!seat?.ok) return seat ?? gone
        const lost = Promise.withResolvers<void>()
        const leave = () => {
          seat.value.leave()
          lost.resolve()
        }
        return ok({ ...seat.value, leave, lost: lost.promise })
      },
      news: (signal) => api()?.news(signal) ?? nothing(),
    }
  }

async function* nothing() {}

const asJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value // the same shape
