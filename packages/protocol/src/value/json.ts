import type { z } from 'zod'

/** Any JSON value. */
export type Json = z.infer<ReturnType<typeof z.json>>
