import type { Observer, OnProblem } from '@holdfast/core/ports'

type Work<Value> = () => Promise<Value>
type Notice = Exclude<keyof Observer, 'during' | 'asking'>
type Wrap<Value> = (observer: Observer, work: Work<Value>) => Promise<Value> | undefined

/** Combines observers into one. An error in one of them never reaches the session. */
export function observeAll(observers: readonly Observer[], onProblem: OnProblem): Required<Observer> {
  const report = (cause: unknown) => onProblem({ where: 'observing a session', cause })
  const notify =
    <Name extends Notice>(name: Name) =>
    (...args: Parameters<Required<Observer>[Name]>): void => {
      for (const observer of observers) {
        try {
          const method = observer[name] as ((...all: typeof args) => void) | undefined // TypeScript widens it to all names
          method?.apply(observer, args)
        } catch (cause) {
          report(cause)
        }
      }
    }
  const wrapAll = <Value>(wrap: Wrap<Value>, work: Work<Value>) =>
    observers.reduce((inner, one) => () => runOnce((run) => wrap(one, run), inner, report), work)()

  return {
    recorded: notify('recorded'),
    answering: notify('answering'),
    retrying: notify('retrying'),
    answered: notify('answered'),
    storage: notify('storage'),
    left: notify('left'),
    during: (session, work, run) => wrapAll((one, inner) => one.during?.(session, work, inner), run),
    asking: (session, model, ask) => wrapAll((one, inner) => one.asking?.(session, model, inner), ask),
  }
}

/** Runs the work exactly once; observer errors cannot change the result. */
async function runOnce<Value>(
  wrap: (work: Work<Value>) => Promise<Value> | undefined,
  work: Work<Value>,
  report: (cause: unknown) => void,
): Promise<Value> {
  let result: Promise<Value> | undefined
  const once = () => {
    result ??= work()
    return result
  }
  try {
    await wrap(once)
  } catch (cause) {
    const [settled] = await Promise.allSettled([once()])
    if (settled.status === 'fulfilled' || settled.reason !== cause) report(cause)
  }
  return once()
}
