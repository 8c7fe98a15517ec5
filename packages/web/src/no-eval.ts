// Must be the first import of the page. The schemas' library tries `new Function` when it loads, to see whether it may
// compile parsers; the server's content policy forbids that and would report the attempt. This says so beforehand.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
