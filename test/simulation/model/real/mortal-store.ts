import type { Store } from '@holdfast/core/ports'
import type { Life } from '../../turnstile.ts'

/** When the life ends: at the next command it would write, before that is on disk or just after. */
export type Doom = { when: 'before' | 'after' | null }

const never = () => new Promise<never>(() => undefined)

/** One life's view of the store: once it is dead, nothing it asks for is done, and nothing is answered. */
export function createMortalStore(inner: Store, life: Life, doom: Doom): Store {
  const mortal: Store = {
    ...inner,
    async append(append) {
      if (life.status === 'dead') return never()
      const isCommand = append.records[0]?.record.commandId !== undefined
      const when = isCommand ? doom.when : null
      if (when === null) return inner.append(append)
      doom.when = null
      if (when === 'after') await inner.append(append)
      life.status = 'dead'
      return never()
    },
  }
  return new Proxy(mortal, {
    get: (target, name) => (life.status === 'dead' ? never : Reflect.get(target, name)),
  })
}
