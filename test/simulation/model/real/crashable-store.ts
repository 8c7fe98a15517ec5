import type { Store } from '@holdfast/core/ports'
import type { Life } from '../../scheduler.ts'

/** When the process is killed: at its next append of a command, before or after it is on disk. */
export type CrashPoint = { when: 'before' | 'after' | null }

const never = () => new Promise<never>(() => undefined)

/** Wraps the store for one process. After it is killed, calls do nothing and never resolve. */
export function createCrashableStore(inner: Store, life: Life, crashPoint: CrashPoint): Store {
  const mortal: Store = {
    ...inner,
    async append(append) {
      if (life.status === 'dead') return never()
      const isCommand = append.records[0]?.record.commandId !== undefined
      const when = isCommand ? crashPoint.when : null
      if (when === null) return inner.append(append)
      crashPoint.when = null
      if (when === 'after') await inner.append(append)
      life.status = 'dead'
      return never()
    },
  }
  return new Proxy(mortal, {
    get: (target, name) => (life.status === 'dead' ? never : Reflect.get(target, name)),
  })
}
