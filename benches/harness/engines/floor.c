/* libjpeg-turbo alone: every JPEG of the TFRecord files is read into memory, then decoded to RGB by JOB_THREADS threads,
 * JOB_EPOCHS times. Nothing is shuffled, parsed or resized in the timed part: this is the time that a pipeline with the same decoder
 * cannot beat. JOB_VARIANT: "accurate" (ISLOW) or "fastest" (IFAST, no fancy upsampling). The job comes from the environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <stdatomic.h>
#include <pthread.h>
#include <time.h>
#include <jpeglib.h>

#define STRING(x) #x
#define VALUE(x) STRING(x)

struct picture { const unsigned char *bytes; size_t size; uint64_t label; };

static struct picture *pictures;
static size_t count, room;
static long total;
static atomic_long next_job;
static int fastest;

static void stop(const char *why) { fprintf(stderr, "%s\n", why); exit(1); }

/* A varint; NULL where the message is cut short. */
static const unsigned char *varint(const unsigned char *at, const unsigned char *end, uint64_t *value) {
  *value = 0;
  for (int shift = 0; at && at < end && shift < 64; shift += 7) {
    *value |= (uint64_t)(*at & 127) << shift;
    if (!(*at++ & 128)) return at;
  }
  return NULL;
}

/* The content of the next field of a message; NULL at its end. Only the wire types an Example has. */
static const unsigned char *field(const unsigned char **at, const unsigned char *end, uint64_t *number, uint64_t *size) {
  uint64_t tag;
  if (*at >= end || !(*at = varint(*at, end, &tag))) return NULL;
  *number = tag >> 3;
  if (!(*at = varint(*at, end, size))) return NULL;
  if ((tag & 7) == 0) return *at; /* size holds the value itself */
  if ((tag & 7) != 2 || *size > (uint64_t)(end - *at)) stop("not an Example");
  const unsigned char *content = *at;
  *at += *size;
  return content;
}

/* The first value inside `depth` nested messages of field number 1 or 3 below a feature. */
static const unsigned char *first_value(const unsigned char *at, uint64_t *size, int depth) {
  uint64_t number;
  for (; depth; depth--) {
    const unsigned char *end = at + *size, *content = field(&at, end, &number, size);
    if (!content) return NULL;
    at = content;
  }
  return at;
}

static void add(const unsigned char *payload, size_t size) {
  struct picture p = {0};
  uint64_t number, length, n;
  const unsigned char *at = payload, *features = field(&at, payload + size, &number, &length);
  if (!features) stop("an empty record");
  const unsigned char *end = features + length, *entry;
  while ((entry = field(&features, end, &number, &length))) {
    const unsigned char *inside = entry, *stop_at = entry + length;
    const unsigned char *key = field(&inside, stop_at, &number, &n);
    uint64_t key_size = n;
    const unsigned char *value = field(&inside, stop_at, &number, &n);
    if (!key || !value) continue;
    if (key_size == 13 && !memcmp(key, "image/encoded", 13)) {
      p.bytes = first_value(value, &n, 2);
      p.size = n;
    } else if (key_size == 17 && !memcmp(key, "image/class/label", 17)) {
      const unsigned char *packed = first_value(value, &n, 2);
      if (packed) varint(packed, packed + n, &p.label);
    }
  }
  if (!p.bytes) stop("a record without image/encoded");
  if (count == room && !(pictures = realloc(pictures, (room = room ? 2 * room : 1024) * sizeof p))) stop("no memory");
  pictures[count++] = p;
}

static void load(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) stop(path);
  fseek(file, 0, SEEK_END);
  size_t size = ftell(file), at = 0;
  rewind(file);
  unsigned char *bytes = malloc(size ? size : 1);
  if (!bytes || fread(bytes, 1, size, file) != size) stop("read error");
  fclose(file);
  while (at + 16 <= size) {
    uint64_t length;
    memcpy(&length, bytes + at, 8);
    if (length > size - at - 16) stop("a cut record");
    add(bytes + at + 12, length);
    at += length + 16;
  }
}

static void *work(void *unused) {
  (void)unused;
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  unsigned char *pixels = NULL;
  size_t have = 0;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  for (long job; (job = atomic_fetch_add(&next_job, 1)) < total;) {
    const struct picture *p = &pictures[job % count];
    jpeg_mem_src(&jpeg, p->bytes, p->size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_RGB;
    if (fastest) {
      jpeg.dct_method = JDCT_IFAST;
      jpeg.do_fancy_upsampling = FALSE;
    }
    jpeg_start_decompress(&jpeg);
    size_t row = (size_t)jpeg.output_width * 3, need = row * jpeg.output_height;
    if (need > have && !(pixels = realloc(pixels, have = need))) stop("no memory");
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW rows[8];
      JDIMENSION n = 0;
      for (; n < 8 && jpeg.output_scanline + n < jpeg.output_height; n++) rows[n] = pixels + row * (jpeg.output_scanline + n);
      jpeg_read_scanlines(&jpeg, rows, n);
    }
    jpeg_finish_decompress(&jpeg);
  }
  jpeg_destroy_decompress(&jpeg);
  free(pixels);
  return NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* CRC-32 of zlib over the sorted labels, each `epochs` times. */
static uint32_t checksum(long epochs) {
  uint64_t *labels = malloc(count * 8 + 1);
  if (!labels) stop("no memory");
  for (size_t i = 0; i < count; i++) labels[i] = pictures[i].label;
  qsort(labels, count, 8, by_number);
  uint32_t crc = ~0u;
  for (size_t i = 0; i < count; i++)
    for (long e = 0; e < epochs; e++)
      for (int byte = 0; byte < 8; byte++) {
        crc ^= (labels[i] >> 8 * byte) & 255;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
      }
  return ~crc;
}

static const char *job(const char *name) {
  const char *value = getenv(name);
  if (!value) stop(name);
  return value;
}

int main(void) {
  char *files = strdup(job("JOB_FILES"));
  long threads = atol(job("JOB_THREADS")), epochs = atol(job("JOB_EPOCHS"));
  fastest = !strcmp(job("JOB_VARIANT"), "fastest");
  for (char *path = strtok(files, "\n"); path; path = strtok(NULL, "\n")) load(path);
  if (!count || threads < 1 || threads > 256) stop("nothing to do");
  total = epochs * (long)count;
  pthread_t pool[256];
  double start = now();
  for (long i = 0; i < threads; i++) pthread_create(&pool[i], NULL, work, NULL);
  for (long i = 0; i < threads; i++) pthread_join(pool[i], NULL);
  double seconds = now() - start;
  printf("{\"delivered\": %ld, \"checksum\": \"%08x\", \"images_per_s\": %.1f, \"steady_images_per_s\": %.1f, "
         "\"version\": \"libjpeg-turbo %s, JPEGs in memory\"}\n",
         total, checksum(epochs), total / seconds, total / seconds, VALUE(LIBJPEG_TURBO_VERSION));
  return 0;
}
