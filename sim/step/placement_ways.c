/* placement_ways.c: which of some places a building would cut off from each other. See phalanx/building.h.
 *
 * Method: for a layer of size n the building closes a rectangle. The open cells around it, in a ring of width
 * 1, fall into arcs; where there is one arc at most, or no two arcs are joined through the rectangle, every
 * way can be led around, and nothing is parted. Else each arc floods outwards, one cell of each in turn, and
 * arcs that meet are one part. It ends when, of parts that were joined before, all but one are flooded whole:
 * so it takes the smaller parts several times, however large the map. A place that no flood has met is in the
 * part that is left, or has nothing to do with it; only where another place lies in a flooded part, that is
 * found out, by floods from the places themselves too. Cells are composed sector by sector, as they are met.
 *
 * In: the state alone, and nothing that is derived from it. Memory: from the sim's allocator, given back
 * before the return. Determinism: what is told is a fact about the cells, not about the order of floods.
 */
#include "base/bitset.h"
#include "nav/sector.h"
#include "step/placement.h"

enum {
    SIDE = PHX_BUILDING_SIDE_LIMIT + PHX_COST_SIZE_LIMIT - 1, /* of the closed rectangle, at most */
    BOX_SIDE = SIDE + 2,                                      /* with the ring */
    BOX_CELLS = BOX_SIDE * BOX_SIDE,
    ARC_LIMIT = (4 * SIDE + 4) / 2,
    SOURCE_LIMIT = ARC_LIMIT + PHX_PLACEMENT_PLACE_LIMIT,
    NONE = 0xffff
};

/* What is known of a sector's cells. */
typedef struct Page {
    uint16_t label[PHX_SECTOR_CELLS]; /* source that reached the cell, plus 1; 0: none yet */
    uint32_t next[PHX_SECTOR_CELLS];  /* the cell behind it in its source's queue */
} Page;

/* A flood: its cells that wait, first in, first out. */
typedef struct Source {
    uint32_t head, tail, waiting; /* map cells; how many */
} Source;

typedef struct Search {
    PhxAllocator allocator;
    PhxCostSources sources;
    PhxCostProfile profile;
    uint32_t team, size;
    PhxNavGrid plane; /* the layer as it stands, where a page is there */
    uint8_t *cells;   /* of the plane */
    Page **pages;     /* a sector */
    PhxCostBuilding *buildings;
    PhxCellRect closed; /* by the building; may go beyond the map */
    PhxStatus status;
    uint32_t place[PHX_PLACEMENT_PLACE_LIMIT], place_count; /* cells */
    uint64_t standing; /* places where one can stand, and could with the building too */
    uint32_t arc_count, source_count;
    Source source[SOURCE_LIMIT];
    uint16_t part[SOURCE_LIMIT];   /* union-find: sources whose floods have met */
    uint16_t before[SOURCE_LIMIT]; /* the same, and joined through the rectangle as it stands */
    bool live[SOURCE_LIMIT];       /* parts that have cells that wait */
    bool wanted[SOURCE_LIMIT];     /* parts whose floods go on */
    bool news;                     /* parts have met, or a flood has ended */
    uint16_t box_part[BOX_CELLS];  /* rectangle and ring: open parts */
    uint16_t box_arc[BOX_CELLS];   /* ring: its arc */
    uint16_t stack[BOX_CELLS];
} Search;

static bool inside(PhxCellRect rect, int32_t x, int32_t y) {
    return x >= rect.x0 && y >= rect.y0 && x < rect.x1 && y < rect.y1;
}

/* Memory, or null and a status. */
static void *take(Search *search, size_t size) {
    void *memory = search->allocator.allocate(search->allocator.user, size);
    if (!memory) search->status = PHX_ERROR_MEMORY;
    return memory;
}

static void give(Search *search, void *memory, size_t size) {
    if (memory) search->allocator.release(search->allocator.user, memory, size);
}

/* The page of a cell of the map, made when it is first asked for; null: out of memory. */
static Page *page_of(Search *search, int32_t x, int32_t y) {
    const uint32_t sector = phx_sector_at(search->plane.width, (uint32_t)x, (uint32_t)y);
    if (search->pages[sector]) return search->pages[sector];
    Page *page = take(search, sizeof *page);
    if (!page) return NULL;
    for (uint32_t i = 0; i < PHX_SECTOR_CELLS; i++) page->label[i] = 0;
    search->pages[sector] = page;
    const PhxSectorFrame frame = phx_sector_frame(search->plane.width, search->plane.height, sector);
    const PhxCellRect cells = {(int32_t)frame.x0, (int32_t)frame.y0, (int32_t)(frame.x0 + frame.width),
                               (int32_t)(frame.y0 + frame.height)};
    phx_cost_compose(&search->sources, &search->profile, search->team, search->size, cells, search->cells);
    return page;
}

static uint32_t cell_at(const Search *search, int32_t x, int32_t y) {
    return (uint32_t)y * search->plane.width + (uint32_t)x;
}

/* A cell of the map whose page is there: null where it is closed, or there is no memory. */
static Page *open_now(Search *search, int32_t x, int32_t y) {
    if (x < 0 || y < 0 || x >= (int32_t)search->plane.width || y >= (int32_t)search->plane.height)
        return NULL;
    Page *page = page_of(search, x, y);
    return page && phx_nav_passable(&search->plane, x, y) ? page : NULL;
}

static Page *open_then(Search *search, int32_t x, int32_t y) {
    return inside(search->closed, x, y) ? NULL : open_now(search, x, y);
}

static uint16_t *label_of(Page *page, int32_t x, int32_t y) {
    return &page->label[phx_sector_local((uint32_t)x, (uint32_t)y)];
}

static uint16_t find(uint16_t *parent, uint16_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static void join(uint16_t *parent, uint16_t a, uint16_t b) {
    const uint16_t first = find(parent, a), second = find(parent, b);
    parent[first > second ? first : second] = first < second ? first : second;
}

static uint16_t new_source(Search *search) {
    const uint16_t i = (uint16_t)search->source_count++;
    search->source[i] = (Source){0, 0, 0};
    search->part[i] = search->before[i] = i;
    return i;
}

/* A source comes to an open cell: takes it, or meets who has it. */
static void reach(Search *search, uint16_t source, Page *page, int32_t x, int32_t y) {
    Source *queue = &search->source[source];
    uint16_t *label = label_of(page, x, y);
    if (*label != 0) {
        if (find(search->part, source) == find(search->part, (uint16_t)(*label - 1))) return;
        join(search->part, source, (uint16_t)(*label - 1));
        join(search->before, source, (uint16_t)(*label - 1));
        search->news = true;
        return;
    }
    const uint32_t cell = cell_at(search, x, y);
    *label = (uint16_t)(source + 1);
    if (queue->waiting++ > 0) {
        const int32_t tx = (int32_t)(queue->tail % search->plane.width),
                      ty = (int32_t)(queue->tail / search->plane.width);
        Page *last = page_of(search, tx, ty); /* it is there: the cell was reached */
        if (last) last->next[phx_sector_local((uint32_t)tx, (uint32_t)ty)] = cell;
    } else {
        queue->head = cell;
    }
    queue->tail = cell;
}

/* Takes the first cell of a queue and reaches its neighbours. */
static void spread(Search *search, uint16_t source) {
    Source *queue = &search->source[source];
    const int32_t x = (int32_t)(queue->head % search->plane.width),
                  y = (int32_t)(queue->head / search->plane.width);
    for (uint32_t code = 0; code < 8; code += 2) {
        const int32_t nx = x + phx_flow_dx[code], ny = y + phx_flow_dy[code];
        Page *page = open_then(search, nx, ny);
        if (page) reach(search, source, page, nx, ny);
    }
    const Page *own = page_of(search, x, y);
    if (own) queue->head = own->next[phx_sector_local((uint32_t)x, (uint32_t)y)];
    if (--queue->waiting == 0) search->news = true;
}

/* The cells of the ring in turn: `i` from 0 on, each beside the one before; false after the last. */
static bool ring_cell(const PhxCellRect *in, int32_t i, int32_t *x, int32_t *y) {
    const int32_t across = in->x1 - in->x0 + 1, down = in->y1 - in->y0 + 1;
    const int32_t half = across + down, k = i % half;
    const bool back = i >= half;
    if (k < across) {
        *x = back ? in->x1 - k : in->x0 - 1 + k;
        *y = back ? in->y1 : in->y0 - 1;
    } else {
        *x = back ? in->x0 - 1 : in->x1;
        *y = back ? in->y1 - (k - across) : in->y0 - 1 + (k - across);
    }
    return i < 2 * half;
}

static uint32_t box_at(const Search *search, int32_t x, int32_t y) {
    return (uint32_t)((y - search->closed.y0 + 1) * BOX_SIDE + x - search->closed.x0 + 1);
}

/* Numbers the runs of open cells of the ring; the last goes over into the first. */
static void find_arcs(Search *search) {
    int32_t x, y;
    uint16_t arc = NONE;
    for (int32_t i = 0; ring_cell(&search->closed, i, &x, &y); i++) {
        Page *page = open_then(search, x, y);
        if (search->status != PHX_OK) return;
        if (page && arc == NONE) arc = new_source(search);
        if (!page) arc = NONE;
        search->box_arc[box_at(search, x, y)] = arc;
        if (page) reach(search, arc, page, x, y);
    }
    search->arc_count = search->source_count;
    if (arc == NONE) return;
    const uint16_t first = search->box_arc[box_at(search, search->closed.x0 - 1, search->closed.y0 - 1)];
    if (first == NONE || first == arc) return;
    join(search->part, first, arc);
    join(search->before, first, arc);
}

/* Floods one open part of rectangle and ring as they stand, and joins the arcs in it. */
static void flood_box(Search *search, int32_t x0, int32_t y0, uint16_t name) {
    const PhxCellRect in = search->closed,
                      box = {in.x0 - 1, in.y0 - 1, in.x1 + 1, in.y1 + 1}; /* in cells of the map */
    uint32_t depth = 0;
    uint16_t met = NONE;
    search->box_part[box_at(search, x0, y0)] = name;
    search->stack[depth++] = (uint16_t)box_at(search, x0, y0);
    while (depth > 0) {
        const uint32_t at = search->stack[--depth];
        const int32_t x = (int32_t)(at % BOX_SIDE) + box.x0, y = (int32_t)(at / BOX_SIDE) + box.y0;
        if (!inside(in, x, y)) {
            if (met != NONE) join(search->before, met, search->box_arc[at]);
            met = search->box_arc[at];
        }
        for (uint32_t code = 0; code < 8; code += 2) {
            const int32_t nx = x + phx_flow_dx[code], ny = y + phx_flow_dy[code];
            if (!inside(box, nx, ny) || search->box_part[box_at(search, nx, ny)] != NONE ||
                !open_now(search, nx, ny))
                continue;
            search->box_part[box_at(search, nx, ny)] = name;
            search->stack[depth++] = (uint16_t)box_at(search, nx, ny);
        }
    }
}

/* Which arcs are joined through the rectangle as it stands. */
static void join_through(Search *search) {
    uint16_t name = 0;
    for (uint32_t i = 0; i < BOX_CELLS; i++) search->box_part[i] = NONE;
    for (int32_t y = search->closed.y0; y < search->closed.y1; y++)
        for (int32_t x = search->closed.x0; x < search->closed.x1; x++)
            if (search->box_part[box_at(search, x, y)] == NONE && open_now(search, x, y))
                flood_box(search, x, y, name++);
}

/* Which parts have cells that wait. */
static void find_live(Search *search) {
    for (uint16_t i = 0; i < search->source_count; i++) search->live[i] = false;
    for (uint16_t i = 0; i < search->source_count; i++)
        if (search->source[i].waiting > 0) search->live[find(search->part, i)] = true;
}

/* Wants the floods of parts that were joined before and may still meet; false: there are none. */
static bool want_arcs(Search *search) {
    bool any = false;
    find_live(search);
    for (uint16_t i = 0; i < search->source_count; i++) search->wanted[i] = false;
    for (uint16_t i = 0; i < search->source_count; i++)
        for (uint16_t j = 0; j < i && search->live[i]; j++)
            if (search->live[j] && find(search->before, i) == find(search->before, j))
                search->wanted[i] = search->wanted[j] = any = true;
    return any;
}

/* One cell of each wanted flood in turn, until nothing is wanted any more. */
static void run(Search *search, bool (*want)(Search *)) {
    bool go_on = want(search);
    search->news = false;
    while (go_on && search->status == PHX_OK) {
        for (uint16_t i = 0; i < search->source_count; i++)
            if (search->source[i].waiting > 0 && search->wanted[find(search->part, i)]) spread(search, i);
        if (!search->news) continue;
        go_on = want(search);
        search->news = false;
    }
}

/* The source that reached a place that stands, or NONE. */
static uint16_t source_at(Search *search, uint32_t place) {
    const uint32_t cell = search->place[place];
    const int32_t x = (int32_t)(cell % search->plane.width), y = (int32_t)(cell / search->plane.width);
    if (!(search->standing >> place & 1)) return NONE;
    Page *page = page_of(search, x, y);
    if (!page || *label_of(page, x, y) == 0) return NONE;
    return (uint16_t)(*label_of(page, x, y) - 1);
}

/* Marks what was joined before with a part that is flooded whole and holds a place; false: there is none. */
static bool find_parted(Search *search, bool parted[SOURCE_LIMIT]) {
    bool any = false;
    find_live(search);
    for (uint32_t i = 0; i < search->place_count; i++) {
        const uint16_t source = source_at(search, i);
        if (source == NONE || search->live[find(search->part, source)]) continue;
        parted[find(search->before, source)] = any = true;
    }
    return any;
}

/* Wants the floods that show which places were joined with those that are parted: what is left of where those
 * were, and the parts of other places, as long as they may still meet. */
static bool want_places(Search *search) {
    bool parted[SOURCE_LIMIT] = {false}, left = false;
    uint32_t count = 0;
    (void)find_parted(search, parted);
    for (uint16_t i = 0; i < search->source_count; i++) {
        search->wanted[i] = search->live[i] && parted[find(search->before, i)];
        left |= search->wanted[i];
    }
    for (uint32_t i = 0; i < search->place_count; i++) {
        const uint16_t source = source_at(search, i);
        if (source == NONE) continue;
        const uint16_t part = find(search->part, source);
        search->wanted[part] = search->wanted[part] || search->live[part];
    }
    for (uint16_t i = 0; i < search->source_count; i++) count += search->wanted[i];
    return left && count > 1;
}

/* Floods from the places that no arc has reached. */
static void resolve_places(Search *search) {
    for (uint32_t i = 0; i < search->place_count; i++) {
        const int32_t x = (int32_t)(search->place[i] % search->plane.width),
                      y = (int32_t)(search->place[i] / search->plane.width);
        if (!(search->standing >> i & 1) || source_at(search, i) != NONE) continue;
        Page *page = page_of(search, x, y);
        if (page) reach(search, new_source(search), page, x, y);
    }
    run(search, want_places);
}

/* The places that stand in another part than the first that was joined with them. */
static uint64_t compare_places(Search *search) {
    uint64_t sealed = 0;
    for (uint32_t i = 0; i < search->place_count; i++) {
        const uint16_t own = source_at(search, i);
        for (uint32_t j = 0; j < i && own != NONE; j++) {
            const uint16_t other = source_at(search, j);
            if (other == NONE || find(search->before, own) != find(search->before, other)) continue;
            if (find(search->part, own) != find(search->part, other)) sealed |= (uint64_t)1 << i;
            break;
        }
    }
    return sealed;
}

static uint64_t find_sealed(Search *search) {
    bool parted[SOURCE_LIMIT] = {false};
    uint64_t sealed = 0;
    for (uint32_t i = 0; i < search->place_count; i++) {
        const int32_t x = (int32_t)(search->place[i] % search->plane.width),
                      y = (int32_t)(search->place[i] / search->plane.width);
        if (!open_now(search, x, y)) continue;
        *(inside(search->closed, x, y) ? &sealed : &search->standing) |= (uint64_t)1 << i;
    }
    find_arcs(search);
    if (search->arc_count < 2 || search->status != PHX_OK) return sealed;
    join_through(search);
    run(search, want_arcs);
    if (search->status != PHX_OK || !find_parted(search, parted)) return sealed;
    resolve_places(search);
    return sealed | compare_places(search);
}

static PhxCostProfile profile_of(const PhxWorld *world, uint32_t row) {
    const PhxCostProfileTable *rows = &world->cost_profile;
    PhxCostProfile profile = {.slope_limit = rows->slope_limit[row]}; /* the rest of it closes nothing */
    for (uint32_t k = 0; k < PHX_COST_KINDS; k++)
        profile.kind_percent[k] = rows->kind_percent[row * PHX_COST_KINDS + k];
    return profile;
}

/* What closes cells; nothing else matters here. */
static void list_sources(Search *search, const PhxWorld *world) {
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain], *table = &world->tables[PHX_TABLE_building];
    uint32_t count = 0;
    for (size_t s = phx_bitset_next(table->alive, table->used, 0); s < table->used;
         s = phx_bitset_next(table->alive, table->used, s + 1))
        search->buildings[count++] =
            (PhxCostBuilding){phx_building_cells(world, (uint32_t)s), world->building.open_teams[s]};
    search->sources = (PhxCostSources){.width = terrain->width,
                                       .height = terrain->height,
                                       .ground = world->terrain.cost,
                                       .kind = world->terrain.kind,
                                       .height_map = world->terrain.height,
                                       .buildings = search->buildings,
                                       .building_count = count};
}

static PhxStatus search_ways(Search *search, const PhxWorld *world, const PhxPlacementQuestion *question,
                             uint64_t *sealed) {
    const uint32_t type = question->unit_type, size = phx_cost_size_of(world->unit_type.radius[type]);
    const int32_t low = (int32_t)(size - 1) / 2, high = (int32_t)size / 2;
    const PhxCellRect cells = question->building.cells;
    search->profile = profile_of(world, world->unit_type.profile[type]);
    search->team = question->team;
    search->size = size;
    /* A cell is closed where the block that it stands for meets the building. */
    search->closed = (PhxCellRect){cells.x0 - high, cells.y0 - high, cells.x1 + low, cells.y1 + low};
    list_sources(search, world);
    for (uint32_t i = 0; i < question->place_count; i++)
        search->place[i] =
            phx_cost_cell_of(&search->plane, size, question->places[i].x, question->places[i].y);
    search->place_count = question->place_count;
    *sealed = find_sealed(search);
    return search->status;
}

PhxStatus phx_placement_ways(const PhxSim *sim, const PhxPlacementQuestion *question, uint64_t *sealed) {
    const PhxTable *terrain = &sim->world->tables[PHX_TABLE_terrain];
    const uint32_t sectors = phx_sector_count(terrain->width, terrain->height);
    const size_t building_bytes =
        ((size_t)sim->world->tables[PHX_TABLE_building].live + 1) * sizeof(PhxCostBuilding);
    const size_t page_bytes = sectors * sizeof(Page *), plane_bytes = terrain->capacity;
    if (question->building.gate && question->building.open_teams >> question->team & 1) return PHX_OK;
    Search *search = sim->allocator.allocate(sim->allocator.user, sizeof *search);
    if (!search) return PHX_ERROR_MEMORY;
    *search = (Search){.allocator = sim->allocator, .status = PHX_OK};
    search->pages = take(search, page_bytes);
    search->cells = take(search, plane_bytes);
    search->buildings = take(search, building_bytes);
    search->plane = (PhxNavGrid){terrain->width, terrain->height, search->cells};
    for (uint32_t s = 0; s < sectors && search->pages; s++) search->pages[s] = NULL;
    PhxStatus status = search->status;
    if (status == PHX_OK) status = search_ways(search, sim->world, question, sealed);
    for (uint32_t s = 0; s < sectors && search->pages; s++) give(search, search->pages[s], sizeof(Page));
    give(search, search->buildings, building_bytes);
    give(search, search->cells, plane_bytes);
    give(search, search->pages, page_bytes);
    give(search, search, sizeof *search);
    return status;
}
