import { isMainThread } from 'node:worker_threads'

/** Loaded into the server with `--import`. Reports what the prototypes of the process have, when asked. */
const prototypes = { Object, Array, Function, String, Number, Boolean, Map, Set, Promise, Error, Uint8Array }

if (isMainThread && process.send) {
  process.on('message', () => {
    const names = Object.entries(prototypes).map(([name, { prototype }]) => [
      name,
      Reflect.ownKeys(prototype).map(String).sort(),
    ])
    process.send?.({ names, inherited: Object.keys({ ...Object.prototype }), isPolluted: {}.polluted !== undefined })
  })
  process.channel?.unref()
}
