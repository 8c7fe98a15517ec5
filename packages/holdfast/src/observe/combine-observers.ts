import type { Observer, OnProblem } from '@holdfast/core/ports'

type Work<Value> = () => Promise<Value>

/** Combines observers into one. An error in one of them never reaches the session. */
export function observeAll(observers: readonly Observer[], onProblem: OnProblem): Required<Observer> {
  const tellOf = (cause: unknown) => onProblem({ where: 'telling of a session', cause })
  const each = (tell: (observer: Observer) => void) => {
    for (const observer of observers) {
      try {
        tell(observer)
      } catch (cause) {
        tellOf(cause)
      }
    }
  }
  const standAround = <Value>(
    stand: (observer: Observer, work: Work<Value>) => Promise<Value> | undefined,
    work: Work<Value>,
  ) => observers.reduce((inner, one) => () => guarded((run) => stand(one, run), inner, tellOf), work)()

  return {
    recorded: (...told) => each((one) => one.recorded?.(...told)),
    answering: (...told) => each((one) => one.answering?.(...told)),
    retrying: (...told) => each((one) => one.retrying?.(...told)),
    answered: (...told) => each((one) => one.answered?.(...told)),
    storage: (...told) => each((one) => one.storage?.(...told)),
    left: (...told) => each((one) => one.left?.(...told)),
    during: (session, work, run) => standAround((one, inner) => one.during?.(session, work, inner), run),
    asking: (session, model, ask) => standAround((one, inner) => one.asking?.(session, model, inner), ask),
  }
}

/** Runs the work exactly once; observer errors cannot change the result. */
async function guarded<Value>(
  stand: (work: Work<Value>) => Promise<Value> | undefined,
  work: Work<Value>,
  onBroken: (cause: unknown) => void,
): Promise<Value> {
  let came: Promise<Value> | undefined
  const once = () => {
    came ??= work()
    return came
  }
  try {
    await stand(once)
  } catch (cause) {
    const [done] = await Promise.allSettled([once()])
    if (done.status === 'fulfilled' || done.reason !== cause) onBroken(cause)
  }
  return once()
}
